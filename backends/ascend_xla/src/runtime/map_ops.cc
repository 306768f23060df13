#include "map_ops.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "../pjrt/abi.h"
#include "approximate.h"
#include "half.h"

namespace ascend {
namespace {

struct Bool {
  uint8_t value;
  Bool() = default;
  Bool(bool x) : value(x) {}
  operator bool() const { return value; }
};

template <typename T>
constexpr bool kHalf = std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>;
template <typename T>
constexpr bool kFloat = std::is_floating_point_v<T> || kHalf<T>;
template <typename T>
constexpr bool kInteger = std::is_integral_v<T>;
template <typename T>
constexpr bool kBool = std::is_same_v<T, Bool>;
// What a type is computed in.
template <typename T>
using Wide = std::conditional_t<kHalf<T>, float, std::conditional_t<kBool<T>, bool, T>>;

template <typename T, typename R, typename F>
void Unary(void* to, const void* a, int64_t n, F f) {
  R* __restrict r = static_cast<R*>(to);
  const T* __restrict x = static_cast<const T*>(a);
  for (int64_t i = 0; i < n; i++) r[i] = R(f(Wide<T>(x[i])));
}
template <typename T, typename R, typename F>
void Binary(void* to, const void* a, const void* b, int64_t n, F f) {
  R* __restrict r = static_cast<R*>(to);
  const T* __restrict x = static_cast<const T*>(a);
  const T* __restrict y = static_cast<const T*>(b);
  for (int64_t i = 0; i < n; i++) r[i] = R(f(Wide<T>(x[i]), Wide<T>(y[i])));
}

template <typename T>
T IntegerPower(T base, T exponent) {
  if constexpr (std::is_signed_v<T>) {
    if (exponent < 0) {
      if (base == 1) return 1;
      if (base == -1) return exponent % 2 ? -1 : 1;
      return 0;
    }
  }
  typedef std::make_unsigned_t<T> U;
  U result = 1, factor = static_cast<U>(base);
  for (U e = static_cast<U>(exponent); e; e >>= 1) {
    if (e & 1) result = static_cast<U>(uint64_t(result) * factor);
    factor = static_cast<U>(uint64_t(factor) * factor);
  }
  return static_cast<T>(result);
}

// Numbers whose order is that of the bits of floating-point numbers, -NaN first.
inline int64_t TotalOrder(double x) {
  int64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits < 0 ? bits ^ std::numeric_limits<int64_t>::max() : bits;
}

template <typename From, typename To>
To ConvertOne(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (x != x) return 0;
    // The first float above the range may be its limit plus one.
    if (x >= static_cast<From>(std::numeric_limits<To>::max()))
      return std::numeric_limits<To>::max();
    if (x <= static_cast<From>(std::numeric_limits<To>::min()))
      return std::numeric_limits<To>::min();
    return static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

template <typename T, typename R>
void ConvertAll(void* to, const void* a, const void*, const void*, int64_t n) {
  Unary<T, R>(to, a, n, [](Wide<T> x) { return ConvertOne<Wide<T>, Wide<R>>(x); });
}

#define UNARY(name, condition, expression)                                        \
  if (op == MapOp::k_##name) {                                                    \
    if constexpr (condition)                                                      \
      return [](void* to, const void* a, const void*, const void*, int64_t n) {   \
        Unary<T, T>(to, a, n, [](W x) { return W(expression); });                 \
      };                                                                          \
    return nullptr;                                                               \
  }
#define BINARY(name, condition, expression)                                       \
  if (op == MapOp::k_##name) {                                                    \
    if constexpr (condition)                                                      \
      return [](void* to, const void* a, const void* b, const void*, int64_t n) { \
        Binary<T, T>(to, a, b, n, [](W x, W y) { return W(expression); });        \
      };                                                                          \
    return nullptr;                                                               \
  }
#define COMPARE(name, operation)                                                  \
  if (op == MapOp::k_##name)                                                      \
    return [](void* to, const void* a, const void* b, const void*, int64_t n) {   \
      Binary<T, uint8_t>(to, a, b, n, [](W x, W y) { return x operation y; });    \
    };                                                                            \
  if (op == MapOp::k_##name##_total) {                                            \
    if constexpr (kFloat<T>)                                                      \
      return [](void* to, const void* a, const void* b, const void*, int64_t n) { \
        Binary<T, uint8_t>(to, a, b, n, [](W x, W y) {                            \
          return TotalOrder(x) operation TotalOrder(y);                           \
        });                                                                       \
      };                                                                          \
    return nullptr;                                                               \
  }

template <typename T>
MapFunction Convert(int to) {
  switch (to) {
#define TO(type, R) \
  case PJRT_Buffer_Type_##type: return ConvertAll<T, R>;
    TO(PRED, Bool) TO(S8, int8_t) TO(S16, int16_t) TO(S32, int32_t) TO(S64, int64_t)
    TO(U8, uint8_t) TO(U16, uint16_t) TO(U32, uint32_t) TO(U64, uint64_t)
    TO(F16, Half) TO(F32, float) TO(F64, double) TO(BF16, Bfloat16)
#undef TO
    default: return nullptr;
  }
}

template <typename T>
MapFunction Find(MapOp op, int to) {
  typedef Wide<T> W;
  constexpr bool floats = kFloat<T>, ints = kInteger<T>, numbers = !kBool<T>;
  constexpr int bits = 8 * sizeof(T);
  typedef std::make_unsigned_t<std::conditional_t<ints, T, int>> U;
  if (op == MapOp::k_copy)
    return [](void* r, const void* a, const void*, const void*, int64_t n) {
      std::memcpy(r, a, n * sizeof(T));
    };
  if (op == MapOp::k_convert) return Convert<T>(to);
  if (op == MapOp::k_select)
    return [](void* to, const void* a, const void* b, const void* c, int64_t n) {
      T* __restrict r = static_cast<T*>(to);
      const uint8_t* __restrict p = static_cast<const uint8_t*>(a);
      const T* __restrict x = static_cast<const T*>(b);
      const T* __restrict y = static_cast<const T*>(c);
      for (int64_t i = 0; i < n; i++) {
        const T first = x[i], second = y[i];
        r[i] = p[i] ? first : second;
      }
    };
  if (op == MapOp::k_clamp) {
    if constexpr (numbers)
      return [](void* to, const void* a, const void* b, const void* c, int64_t n) {
        T* __restrict r = static_cast<T*>(to);
        const T* __restrict low = static_cast<const T*>(a);
        const T* __restrict x = static_cast<const T*>(b);
        const T* __restrict high = static_cast<const T*>(c);
        for (int64_t i = 0; i < n; i++) {
          const W w = W(x[i]) < W(low[i]) ? W(low[i]) : W(x[i]);
          r[i] = T(w > W(high[i]) ? W(high[i]) : w);
        }
      };
    return nullptr;
  }
  if (op == MapOp::k_is_finite) {
    if constexpr (floats)
      return [](void* to, const void* a, const void*, const void*, int64_t n) {
        Unary<T, uint8_t>(to, a, n, [](W x) { return std::isfinite(x); });
      };
    return nullptr;
  }
  COMPARE(eq, ==) COMPARE(ne, !=) COMPARE(ge, >=) COMPARE(gt, >) COMPARE(le, <=) COMPARE(lt, <)
  UNARY(abs, numbers, x < W(0) ? -x : x == W(0) ? W(0) : x)
  UNARY(negate, numbers, -x)
  UNARY(sign, numbers, (x > W(0)) ? W(1) : (x < W(0)) ? W(-1) : x)
  UNARY(cbrt, floats, std::cbrt(x))
  UNARY(ceil, floats, std::ceil(x))
  UNARY(floor, floats, std::floor(x))
  UNARY(cosine, floats, std::cos(x))
  UNARY(sine, floats, std::sin(x))
  UNARY(tan, floats, std::tan(x))
  UNARY(exponential, floats, Exp(x))
  UNARY(exponential_minus_one, floats, std::expm1(x))
  UNARY(log, floats, Log(x))
  UNARY(log_plus_one, floats, std::log1p(x))
  UNARY(logistic, floats, Logistic(x))
  UNARY(tanh, floats, Tanh(x))
  UNARY(sqrt, floats, std::sqrt(x))
  UNARY(rsqrt, floats, W(1) / std::sqrt(x))
  UNARY(round_nearest_afz, floats, std::round(x))
  UNARY(round_nearest_even, floats, std::nearbyint(x))
  UNARY(popcnt, ints, __builtin_popcountll(static_cast<U>(x)))
  UNARY(count_leading_zeros, ints,
        x == 0 ? bits : __builtin_clzll(static_cast<U>(x)) - (64 - bits))
  if (op == MapOp::k_bitwise_not) {
    if constexpr (kBool<T>)
      return [](void* to, const void* a, const void*, const void*, int64_t n) {
        Unary<T, T>(to, a, n, [](bool x) { return !x; });
      };
    else if constexpr (ints)
      return [](void* to, const void* a, const void*, const void*, int64_t n) {
        Unary<T, T>(to, a, n, [](W x) { return W(~x); });
      };
    return nullptr;
  }
  if constexpr (kBool<T>) {
    BINARY(add, true, x || y)
    BINARY(maximum, true, x || y)
    BINARY(bitwise_or, true, x || y)
    BINARY(multiply, true, x && y)
    BINARY(minimum, true, x && y)
    BINARY(bitwise_and, true, x && y)
    BINARY(bitwise_xor, true, x != y)
    return nullptr;
  } else if constexpr (floats) {
    BINARY(add, true, x + y)
    BINARY(subtract, true, x - y)
    BINARY(multiply, true, x * y)
    BINARY(divide, true, x / y)
    // A NaN on either side comes through.
    BINARY(maximum, true, x != x || x > y || (x == y && !std::signbit(x)) ? x : y)
    BINARY(minimum, true, x != x || x < y || (x == y && std::signbit(x)) ? x : y)
    BINARY(power, true, std::pow(x, y))
    BINARY(atan2, true, std::atan2(x, y))
    BINARY(remainder, true, std::fmod(x, y))
    return nullptr;
  } else {
    // Sums and products wrap around; what has no result has the one that XLA gives.
    BINARY(add, true, static_cast<U>(x) + static_cast<U>(y))
    BINARY(subtract, true, static_cast<U>(x) - static_cast<U>(y))
    BINARY(multiply, true, uint64_t(static_cast<U>(x)) * static_cast<U>(y))
    BINARY(divide, true, y == 0 ? W(-1) : (std::is_signed_v<T> && y == W(-1)) ? W(U(0) - U(x)) : W(x / y))
    BINARY(remainder, true, y == 0 ? x : (std::is_signed_v<T> && y == W(-1)) ? W(0) : W(x % y))
    BINARY(maximum, true, x > y ? x : y)
    BINARY(minimum, true, x < y ? x : y)
    BINARY(power, true, IntegerPower<T>(x, y))
    BINARY(bitwise_and, true, x & y)
    BINARY(bitwise_or, true, x | y)
    BINARY(bitwise_xor, true, x ^ y)
    BINARY(shift_left, true, static_cast<U>(y) >= U(bits) ? W(0) : W(static_cast<U>(x) << y))
    BINARY(shift_right_logical, true, static_cast<U>(y) >= U(bits) ? W(0) : W(static_cast<U>(x) >> y))
    BINARY(shift_right_arithmetic, true,
           static_cast<U>(y) >= U(bits) ? W(x < 0 ? -1 : 0) : W(x >> y))
    return nullptr;
  }
}

}  // namespace

MapFunction FindMapFunction(MapOp op, int type, int to) {
  if (op < MapOp::k_copy || op >= MapOp::kCount) return nullptr;
  switch (type) {
#define OF(name, T) \
  case PJRT_Buffer_Type_##name: return Find<T>(op, to);
    OF(PRED, Bool) OF(S8, int8_t) OF(S16, int16_t) OF(S32, int32_t) OF(S64, int64_t)
    OF(U8, uint8_t) OF(U16, uint16_t) OF(U32, uint32_t) OF(U64, uint64_t)
    OF(F16, Half) OF(F32, float) OF(F64, double) OF(BF16, Bfloat16)
#undef OF
    default: return nullptr;
  }
}

}  // namespace ascend

extern "C" __attribute__((visibility("default"))) const char* ascend_map_ops() {
  return ""
#define X(name) #name ","
      MAP_OPS(X)
#undef X
      ;
}

// Whether there is a function for an operator, a type and, for convert, the result's type.
extern "C" __attribute__((visibility("default"))) int ascend_has_map(int64_t op, int type, int to) {
  return ascend::FindMapFunction(static_cast<ascend::MapOp>(op), type, to) != nullptr;
}
