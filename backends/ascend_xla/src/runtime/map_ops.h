// The scalar operators of fused elementwise steps. Python asks for their names in this order.
#pragma once
#include <cstdint>

namespace ascend {

#define MAP_OPS(X)                                                                            \
  X(copy) X(abs) X(cbrt) X(ceil) X(cosine) X(count_leading_zeros) X(exponential)              \
  X(exponential_minus_one) X(floor) X(is_finite) X(log) X(log_plus_one) X(logistic) X(negate) \
  X(bitwise_not) X(popcnt) X(round_nearest_afz) X(round_nearest_even) X(rsqrt) X(sign)        \
  X(sine) X(sqrt) X(tan) X(tanh) X(add) X(atan2) X(divide) X(maximum) X(minimum) X(multiply)  \
  X(power) X(remainder) X(shift_left) X(shift_right_arithmetic) X(shift_right_logical)        \
  X(subtract) X(bitwise_and) X(bitwise_or) X(bitwise_xor) X(eq) X(ne) X(ge) X(gt) X(le) X(lt) \
  X(eq_total) X(ne_total) X(ge_total) X(gt_total) X(le_total) X(lt_total) X(select) X(clamp)  \
  X(convert)

enum class MapOp : int64_t {
#define X(name) k_##name,
  MAP_OPS(X)
#undef X
      kCount
};

// Applies an operator to n elements; unused operands are null.
typedef void (*MapFunction)(void* to, const void* a, const void* b, const void* c, int64_t n);

// The function for operands of a type (for convert, `to` is the result's); null if there is none.
MapFunction FindMapFunction(MapOp op, int type, int to);

}  // namespace ascend
