// Functions that the compiler makes vectors of, and scratch memory.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

namespace kernels {

// e^x by Cephes' polynomial, 2 units in the last place; denormal results are 0.
inline float Exp(float x) {
  const float kept = x < -87.3f ? -87.3f : (x > 88.7f ? 88.7f : x);
  const float shifted = kept * 1.44269504f + 12582912.0f;
  uint32_t exponent;
  std::memcpy(&exponent, &shifted, 4);
  const float n = shifted - 12582912.0f;
  const float r = (kept - n * 0.693359375f) + n * 2.12194440e-4f;
  float y = 1.9875691500e-4f;
  y = y * r + 1.3981999507e-3f;
  y = y * r + 8.3334519073e-3f;
  y = y * r + 4.1665795894e-2f;
  y = y * r + 1.6666665459e-1f;
  y = y * r + 5.0000001201e-1f;
  y = y * (r * r) + r + 1.0f;
  const uint32_t bits = (exponent + 127u) << 23;
  float power;
  std::memcpy(&power, &bits, 4);
  y *= power;
  y = x < -87.3f ? 0.0f : y;
  return x > 88.7f ? std::numeric_limits<float>::infinity() : y;
}

inline float Sigmoid(float x) { return 1.0f / (1.0f + Exp(-x)); }

inline float Tanh(float x) {
  // By e^2x where that loses nothing, else by the odd series.
  const float e = Exp(2.0f * x), square = x * x;
  const float wide = e > 1e30f ? 1.0f : (e - 1.0f) / (e + 1.0f);
  const float near =
      x * (1.0f + square * (-0.333333333f + square * (0.133333333f + square * -0.053968254f)));
  return square < 0.0121f ? near : wide;
}

// Softmax of some scores after others of the same row: row becomes its exponentials, the greatest
// score and the sum are brought up to date; gives the factor of what was summed before.
inline float Exponentials(float* row, int64_t count, float* peak, float* total) {
  float top = *peak;
#pragma omp simd reduction(max : top)
  for (int64_t j = 0; j < count; ++j) top = row[j] > top ? row[j] : top;
  const float base = std::isfinite(top) ? top : 0.0f;
  const float factor = top == *peak ? 1.0f : Exp(*peak - top);
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t j = 0; j < count; ++j) {
    row[j] = Exp(row[j] - base);
    sum += row[j];
  }
  *total = *total * factor + sum;
  *peak = top;
  return factor;
}

// Uninitialized floats on a boundary of 64 bytes.
class Scratch {
 public:
  explicit Scratch(int64_t count)
      : data_(static_cast<float*>(std::aligned_alloc(64, (count * 4 + 127) / 64 * 64))) {
    if (data_ == nullptr) throw std::bad_alloc();
  }
  ~Scratch() { std::free(data_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  float* get() const { return data_; }

 private:
  float* data_;
};

}  // namespace kernels
