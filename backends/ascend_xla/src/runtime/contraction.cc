// The step "dot": batches of products of matrices.
#include <cstring>

#include "gemm.h"
#include "parallel.h"
#include "program.h"

namespace ascend {
namespace {

struct Dot {
  int64_t batch, m, n, k, a_batch, a_row, a_column, b_batch, b_row, b_column;
};

std::shared_ptr<void> PrepareDot(const Step& step, const Program&) {
  Numbers in(step.ints);
  auto dot = std::make_shared<Dot>();
  for (int64_t* number : {&dot->batch, &dot->m, &dot->n, &dot->k, &dot->a_batch, &dot->a_row,
                          &dot->a_column, &dot->b_batch, &dot->b_row, &dot->b_column})
    *number = in.Next();
  return dot;
}

template <typename T>
void Plain(const Dot& dot, const char* lhs, const char* rhs, char* result) {
  // Wraps around without overflow where T is an integer.
  typedef std::conditional_t<std::is_integral_v<T>, std::make_unsigned_t<
      std::conditional_t<std::is_integral_v<T>, T, int>>, T> U;
  const U* a = reinterpret_cast<const U*>(lhs);
  const U* b = reinterpret_cast<const U*>(rhs);
  U* c = reinterpret_cast<U*>(result);
  ParallelFor(dot.batch * dot.m, 100000 / (dot.n * dot.k + 1) + 1,
              [&](int64_t begin, int64_t end) {
                for (int64_t row = begin; row < end; row++) {
                  const U* x = a + row / dot.m * dot.a_batch + row % dot.m * dot.a_row;
                  const U* y = b + row / dot.m * dot.b_batch;
                  U* r = c + row * dot.n;
                  for (int64_t j = 0; j < dot.n; j++) r[j] = 0;
                  for (int64_t i = 0; i < dot.k; i++)
                    for (int64_t j = 0; j < dot.n; j++)
                      r[j] += static_cast<U>(x[i * dot.a_column] *
                                             y[i * dot.b_row + j * dot.b_column]);
                }
              });
}

void RunDot(const Step& step, Frame& frame) {
  const Dot& dot = *static_cast<const Dot*>(step.prepared.get());
  const char* a = frame.data[step.inputs[0]];
  const char* b = frame.data[step.inputs[1]];
  char* c = frame.data[step.outputs[0]];
  switch (frame.value(step.outputs[0]).type) {
    case PJRT_Buffer_Type_F32: {
      auto product = [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; i++)
          Gemm(dot.m, dot.n, dot.k,
               {reinterpret_cast<const float*>(a) + i * dot.a_batch, dot.a_row, dot.a_column},
               {reinterpret_cast<const float*>(b) + i * dot.b_batch, dot.b_row, dot.b_column},
               {reinterpret_cast<float*>(c) + i * dot.m * dot.n, dot.n, 1});
      };
      // Many small products share the threads by batch, few large ones within each.
      if (dot.batch >= 4)
        ParallelFor(dot.batch, 100000 / (dot.m * dot.n * dot.k + 1) + 1, product);
      else
        product(0, dot.batch);
      return;
    }
    case PJRT_Buffer_Type_F64: return Plain<double>(dot, a, b, c);
    case PJRT_Buffer_Type_S8: case PJRT_Buffer_Type_U8: return Plain<uint8_t>(dot, a, b, c);
    case PJRT_Buffer_Type_S16: case PJRT_Buffer_Type_U16: return Plain<uint16_t>(dot, a, b, c);
    case PJRT_Buffer_Type_S32: case PJRT_Buffer_Type_U32: return Plain<uint32_t>(dot, a, b, c);
    default: return Plain<uint64_t>(dot, a, b, c);
  }
}

const Registration dot_step("dot", RunDot, PrepareDot);

}  // namespace
}  // namespace ascend
