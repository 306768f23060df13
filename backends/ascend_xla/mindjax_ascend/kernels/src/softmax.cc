// Softmax of the last axis and its gradient, each row in one visit.

#include "call.h"
#include "numeric.h"

namespace kernels {
namespace {

constexpr int64_t kSmallest = 1 << 14;  // elements worth a thread

void Softmax(Call& call) {
  const int64_t width = std::max<int64_t>(call.arg(0).dim(-1), 1);
  const int64_t count = call.arg(0).size() / width;
  const float* x = call.arg(0).floats();
  float* y = call.out(0).floats();
  call.Ranges(count, call.Parts(count, kSmallest / width),
              [&](int64_t, int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  const float* row = x + i * width;
                  float* out = y + i * width;
                  float top = -std::numeric_limits<float>::infinity(), sum = 0;
#pragma omp simd reduction(max : top)
                  for (int64_t j = 0; j < width; ++j) top = row[j] > top ? row[j] : top;
#pragma omp simd reduction(+ : sum)
                  for (int64_t j = 0; j < width; ++j) {
                    out[j] = Exp(row[j] - top);
                    sum += out[j];
                  }
                  const float share = 1.0f / sum;
                  for (int64_t j = 0; j < width; ++j) out[j] *= share;
                }
              });
}

void SoftmaxGrad(Call& call) {
  const int64_t width = std::max<int64_t>(call.arg(0).dim(-1), 1);
  const int64_t count = call.arg(0).size() / width;
  Require(call.arg(1).size() == call.arg(0).size(), "gradient and output must be alike");
  const float *dy = call.arg(0).floats(), *y = call.arg(1).floats();
  float* dx = call.out(0).floats();
  call.Ranges(count, call.Parts(count, kSmallest / width),
              [&](int64_t, int64_t begin, int64_t end) {
                for (int64_t i = begin * width; i < end * width; i += width) {
                  float sum = 0;
#pragma omp simd reduction(+ : sum)
                  for (int64_t j = i; j < i + width; ++j) sum += dy[j] * y[j];
#pragma GCC ivdep
                  for (int64_t j = i; j < i + width; ++j) dx[j] = y[j] * (dy[j] - sum);
                }
              });
}

}  // namespace
}  // namespace kernels

KERNEL(softmax, kernels::Softmax)
KERNEL(softmax_grad, kernels::SoftmaxGrad)
