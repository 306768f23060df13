// Transposes matrices by blocks that fit the first cache.
//
// XLA's CPU backend reads a matrix along its columns, one element of each cache line at a time.

#include "call.h"

namespace {

constexpr int64_t kBlock = 16;

// The columns from `begin` to `end`, of which `begin` is a multiple of kBlock.
FOR_EACH_PROCESSOR
void Transpose(const float* in, float* out, int64_t rows, int64_t columns, int64_t begin,
               int64_t end) {
  const int64_t whole_rows = rows / kBlock * kBlock, whole_end = end / kBlock * kBlock;
  for (int64_t c = begin; c < whole_end; c += kBlock) {
    for (int64_t r = 0; r < whole_rows; r += kBlock) {
      float block[kBlock][kBlock];
      for (int64_t i = 0; i < kBlock; ++i)
        for (int64_t j = 0; j < kBlock; ++j) block[i][j] = in[(r + i) * columns + c + j];
      for (int64_t j = 0; j < kBlock; ++j)
        for (int64_t i = 0; i < kBlock; ++i) out[(c + j) * rows + r + i] = block[i][j];
    }
  }
  for (int64_t c = begin; c < end; ++c)
    for (int64_t r = c < whole_end ? whole_rows : 0; r < rows; ++r)
      out[c * rows + r] = in[r * columns + c];
}

// Elements that are worth a thread of their own.
constexpr int64_t kShare = 1 << 17;

struct Strips {
  const float* in;
  float* out;
  int64_t rows, columns, width;

  void Run(int64_t strip) const {
    const int64_t end = (strip + 1) * width;
    Transpose(in, out, rows, columns, strip * width, end < columns ? end : columns);
  }
};

const char* Run(const XLA_FFI_CallFrame* frame) {
  if (!kernels::AllFloats(frame, 1, 1)) return "transposed takes a Float32 matrix";
  const XLA_FFI_Buffer& in = kernels::Argument(frame, 0);
  if (in.rank != 2) return "transposed takes a Float32 matrix";
  const int64_t rows = in.dims[0], columns = in.dims[1];
  if (rows == 0 || columns == 0) return nullptr;
  const int64_t blocks = kShare / rows / kBlock;
  const int64_t width = (blocks > 1 ? blocks : 1) * kBlock;
  const Strips strips{kernels::Floats(in), kernels::Floats(kernels::Result(frame, 0)), rows,
                      columns, width};
  kernels::Parallel(frame, strips, (columns + width - 1) / width);
  return nullptr;
}

}  // namespace

KERNEL(transposed, Run)
