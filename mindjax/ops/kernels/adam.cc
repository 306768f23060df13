// Adam in one pass: a variable and its moments are read and written once, with the gradient.
//
// XLA's CPU backend makes three loops of it, one a result, which read ten arrays where this reads
// four and writes three.

#include <cmath>

#include "call.h"

namespace {

struct Step {
  const float *gradient, *old_variable, *old_mean, *old_square;
  float *variable, *mean, *square;
  float mean_share, square_share, rate, epsilon, keep, scale;
};

FOR_EACH_PROCESSOR
void Update(const Step& step, int64_t begin, int64_t end) {
  const float* g = step.gradient;
  const float *p = step.old_variable, *m = step.old_mean, *v = step.old_square;
  float *p_out = step.variable, *m_out = step.mean, *v_out = step.square;
  const float mean_share = step.mean_share, square_share = step.square_share;
  const float rate = step.rate, epsilon = step.epsilon, keep = step.keep, scale = step.scale;
  // A result may be its own operand, but no other's.
#pragma GCC ivdep
  for (int64_t i = begin; i < end; ++i) {
    const float mean = m[i] + (g[i] - m[i]) * mean_share;
    const float square = v[i] + (g[i] * g[i] - v[i]) * square_share;
    m_out[i] = mean;
    v_out[i] = square;
    p_out[i] = p[i] * keep - rate * mean / (std::sqrt(square) * scale + epsilon);
  }
}

constexpr int64_t kBlock = 1 << 16;

struct Blocks {
  Step step;
  int64_t size;

  void Run(int64_t block) const {
    const int64_t end = (block + 1) * kBlock;
    Update(step, block * kBlock, end < size ? end : size);
  }
};

// Arguments: variable, mean, square, gradient, numbers; results: the new first three.
const char* Run(const XLA_FFI_CallFrame* frame) {
  if (!kernels::AllFloats(frame, 5, 3)) return "adam takes five Float32 arrays and gives three";
  const XLA_FFI_Buffer& variable = kernels::Argument(frame, 0);
  const XLA_FFI_Buffer& numbers = kernels::Argument(frame, 4);
  if (numbers.rank != 1 || numbers.dims[0] != 6) return "adam takes six numbers";
  const float* n = kernels::Floats(numbers);
  float *in[4], *out[3];
  for (int i = 0; i < 4; ++i) in[i] = kernels::Floats(kernels::Argument(frame, i));
  for (int i = 0; i < 3; ++i) out[i] = kernels::Floats(kernels::Result(frame, i));
  int64_t size = 1;
  for (int64_t i = 0; i < variable.rank; ++i) size *= variable.dims[i];
  const Blocks blocks{{in[3], in[0], in[1], in[2], out[0], out[1], out[2],
                       n[0], n[1], n[2], n[3], n[4], n[5]},
                      size};
  kernels::Parallel(frame, blocks, (size + kBlock - 1) / kBlock);
  return nullptr;
}

}  // namespace

KERNEL(adam, Run)
