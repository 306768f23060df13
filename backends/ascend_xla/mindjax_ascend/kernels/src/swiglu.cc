// SwiGlu: the first half of the last axis, by its sigmoid and by the second half; and its gradient.

#include "call.h"
#include "numeric.h"

namespace kernels {
namespace {

constexpr int64_t kSmallest = 1 << 13;  // elements worth a thread

void SwiGlu(Call& call) {
  const int64_t half = call.arg(0).dim(-1) / 2;
  Require(call.arg(0).dim(-1) == 2 * half, "the last axis must be even");
  const int64_t count = half == 0 ? 0 : call.arg(0).size() / (2 * half);
  const float* x = call.arg(0).floats();
  float* y = call.out(0).floats();
  call.Ranges(count, call.Parts(count, kSmallest / std::max<int64_t>(half, 1)),
              [&](int64_t, int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  const float *a = x + i * 2 * half, *b = a + half;
                  float* out = y + i * half;
#pragma GCC ivdep
                  for (int64_t j = 0; j < half; ++j) out[j] = a[j] * Sigmoid(a[j]) * b[j];
                }
              });
}

void SwiGluGrad(Call& call) {
  const int64_t half = call.arg(1).dim(-1) / 2;
  const int64_t count = half == 0 ? 0 : call.arg(1).size() / (2 * half);
  Require(call.arg(0).size() == count * half, "gradient and input do not fit");
  const float *dy = call.arg(0).floats(), *x = call.arg(1).floats();
  float* dx = call.out(0).floats();
  call.Ranges(count, call.Parts(count, kSmallest / std::max<int64_t>(half, 1)),
              [&](int64_t, int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  const float *a = x + i * 2 * half, *b = a + half, *d = dy + i * half;
                  float *da = dx + i * 2 * half, *db = da + half;
#pragma GCC ivdep
                  for (int64_t j = 0; j < half; ++j) {
                    const float s = Sigmoid(a[j]);
                    da[j] = d[j] * b[j] * s * (1.0f + a[j] * (1.0f - s));
                    db[j] = d[j] * a[j] * s;
                  }
                }
              });
}

}  // namespace
}  // namespace kernels

KERNEL(swiglu, kernels::SwiGlu)
KERNEL(swiglu_grad, kernels::SwiGluGrad)
