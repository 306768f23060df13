// The two 16-bit floating types, computed in 32 bits and rounded after each operation.
#pragma once
#include <cstdint>
#include <cstring>

namespace ascend {

struct Half {
  _Float16 value;
  Half() = default;
  Half(float x) : value(static_cast<_Float16>(x)) {}
  operator float() const { return static_cast<float>(value); }
};

struct Bfloat16 {
  uint16_t bits;
  Bfloat16() = default;
  Bfloat16(float x) {
    uint32_t word;
    std::memcpy(&word, &x, sizeof word);
    const bool nan = x != x;
    // Round to nearest, ties to even; a NaN stays one.
    const uint32_t rounded = word + 0x7fff + ((word >> 16) & 1);
    bits = static_cast<uint16_t>((nan ? word | 0x400000 : rounded) >> 16);
  }
  operator float() const {
    const uint32_t word = static_cast<uint32_t>(bits) << 16;
    float x;
    std::memcpy(&x, &word, sizeof x);
    return x;
  }
};

}  // namespace ascend
