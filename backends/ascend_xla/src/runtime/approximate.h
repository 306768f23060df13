// Exponential, logarithm and hyperbolic tangent as straight-line code, which compilers vectorise.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace ascend {

inline float FromBits(int32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
inline int32_t ToBits(float x) {
  int32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

// Cody-Waite reduction by ln 2, then the series of exp over [-ln2/2, ln2/2].
inline float Exp(float x) {
  const float high = 88.8f, low = -104.0f;
  float y = x > high ? high : x;
  y = y < low ? low : y;
  const float n = std::nearbyint(y * 1.44269504088896341f);
  float r = y - n * 0.693359375f;
  r = r + n * 2.12194440e-4f;
  float p = 1.0f / 5040.0f;
  p = p * r + 1.0f / 720.0f;
  p = p * r + 1.0f / 120.0f;
  p = p * r + 1.0f / 24.0f;
  p = p * r + 1.0f / 6.0f;
  p = p * r + 0.5f;
  p = p * r * r + r + 1.0f;
  // Two factors, so that results below the normal range and above 2^127 come out.
  const int32_t exponent = static_cast<int32_t>(n);
  const int32_t half = exponent >> 1;
  float result = p * FromBits((half + 127) << 23) * FromBits((exponent - half + 127) << 23);
  result = x > high ? std::numeric_limits<float>::infinity() : result;
  result = x < low ? 0.0f : result;
  return x != x ? x : result;
}

// x = m 2^e with m in [sqrt(1/2), sqrt(2)); log m = 2 atanh((m-1)/(m+1)).
inline float Log(float x) {
  const bool tiny = x < 1.17549435e-38f;
  const float scaled = tiny ? x * 8388608.0f : x;
  const int32_t bits = ToBits(scaled);
  const int32_t offset = bits - 0x3f3504f3;
  const int32_t exponent = offset >> 23;
  const float m = FromBits((offset & 0x7fffff) + 0x3f3504f3);
  const float s = (m - 1.0f) / (m + 1.0f);
  const float z = s * s;
  float p = 2.0f / 11.0f;
  p = p * z + 2.0f / 9.0f;
  p = p * z + 2.0f / 7.0f;
  p = p * z + 2.0f / 5.0f;
  p = p * z + 2.0f / 3.0f;
  const float log_m = s * z * p + 2.0f * s;
  const float e = static_cast<float>(exponent - (tiny ? 23 : 0));
  float result = e * 0.693359375f + (e * -2.12194440e-4f + log_m);
  const float infinity = std::numeric_limits<float>::infinity();
  result = x == infinity ? infinity : result;
  result = x == 0.0f ? -infinity : result;
  return x < 0.0f || x != x ? std::numeric_limits<float>::quiet_NaN() : result;
}

// Below 0.6 the odd series keeps all digits, above it the exponential does.
inline float Tanh(float x) {
  const float a = x < 0 ? -x : x;
  const float z = x * x;
  float p = 21844.0f / 6081075.0f;
  p = p * z - 1382.0f / 155925.0f;
  p = p * z + 62.0f / 2835.0f;
  p = p * z - 17.0f / 315.0f;
  p = p * z + 2.0f / 15.0f;
  p = p * z - 1.0f / 3.0f;
  const float small = x + x * z * p;
  const float large = 1.0f - 2.0f / (Exp(2.0f * a) + 1.0f);
  const float signed_large = x < 0 ? -large : large;
  return x != x ? x : (a < 0.4f ? small : signed_large);
}

inline float Logistic(float x) { return 1.0f / (1.0f + Exp(-x)); }

inline double Exp(double x) { return std::exp(x); }
inline double Log(double x) { return std::log(x); }
inline double Tanh(double x) { return std::tanh(x); }
inline double Logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }

}  // namespace ascend
