// Rotary position embedding: pairs of the last axis turned by angles, or back for the gradient.
// Cosines and sines have the axes of x, or 1 in the place of one.

#include "call.h"
#include "numeric.h"

namespace kernels {
namespace {

constexpr int64_t kSmallest = 1 << 13;  // elements worth a thread

void Rotary(Call& call) {
  const Array array = call.arg(0), angles = call.arg(1);
  const int64_t rank = array.rank(), width = array.dim(-1), half = width / 2;
  Require(angles.rank() == rank && angles.dim(-1) == width && width == 2 * half &&
              call.arg(2).size() == angles.size(),
          "cos and sin do not fit x, or its last axis is odd");
  // Where the row of angles of a row stands: a stride for each leading axis.
  std::vector<int64_t> stride(rank, 0);
  for (int64_t axis = rank - 2, step = width; axis >= 0; --axis) {
    Require(angles.dim(axis) == 1 || angles.dim(axis) == array.dim(axis),
            "cos and sin do not broadcast to x");
    stride[axis] = angles.dim(axis) == 1 ? 0 : step;
    step *= angles.dim(axis);
  }
  const float *x = array.floats(), *cos = angles.floats(), *sin = call.arg(2).floats();
  float* y = call.out(0).floats();
  const bool pairs = call.integer("interleaved"), back = call.integer("back");
  const float sign = back ? -1.0f : 1.0f;
  const int64_t count = array.size() / std::max<int64_t>(width, 1);
  call.Ranges(count, call.Parts(count, kSmallest / std::max<int64_t>(width, 1)),
              [&](int64_t, int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  int64_t at = 0;
                  for (int64_t axis = rank - 2, rest = i; axis >= 0; --axis) {
                    at += rest % array.dim(axis) * stride[axis];
                    rest /= array.dim(axis);
                  }
                  const float *v = x + i * width, *c = cos + at, *s = sin + at;
                  float* out = y + i * width;
                  // Turned back, an element meets the sine of its partner.
                  if (pairs) {
#pragma GCC ivdep
                    for (int64_t j = 0; j < width; j += 2) {
                      const float a = v[j], b = v[j + 1];
                      out[j] = a * c[j] - sign * b * (back ? s[j + 1] : s[j]);
                      out[j + 1] = b * c[j + 1] + sign * a * (back ? s[j] : s[j + 1]);
                    }
                  } else {
                    const float *low = back ? s + half : s, *high = back ? s : s + half;
#pragma GCC ivdep
                    for (int64_t j = 0; j < half; ++j) {
                      const float a = v[j], b = v[j + half];
                      out[j] = a * c[j] - sign * b * low[j];
                      out[j + half] = b * c[j + half] + sign * a * high[j];
                    }
                  }
                }
              });
}

}  // namespace
}  // namespace kernels

KERNEL(rotary, kernels::Rotary)
