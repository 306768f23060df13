// Products with matrices of int8.
//
// The vectors multiply in float: a sum of products of int8 over at most 1024 elements is a whole
// number below 2^24, which float holds exactly.

#include "call.h"
#include "gemm.h"
#include "numeric.h"

namespace kernels {
namespace {

constexpr int64_t kExact = 1024;

// Element (k, j) of a matrix of int8, which may be stored turned.
struct Bytes {
  const int8_t* data;
  int64_t row, column;
};

// Widens rows begin to end and columns first to first + wide to a panel.
void Widen(Bytes b, int64_t begin, int64_t end, int64_t first, int64_t wide, float* panel) {
  for (int64_t k = begin; k < end; ++k) {
    float* to = panel + (k - begin) * kWidth;
    const int8_t* from = b.data + k * b.row + first * b.column;
    if (wide == kWidth && b.column == 1) {
      for (int64_t j = 0; j < kWidth; ++j) to[j] = from[j];
    } else {
      for (int64_t j = 0; j < kWidth; ++j) to[j] = j < wide ? from[j * b.column] : 0.0f;
    }
  }
}

// out (M, N) float = x (M, K) float by (weight + offset) * scale, int8 (K, N) or turned (N, K);
// scale and offset are (groups, N), each for `group` rows of the weights.
void WeightProduct(Call& call) {
  const Array x = call.arg(0), weight = call.arg(1), scales = call.arg(2);
  const bool turned = call.integer("turned");
  const int64_t rows = x.dim(0), depth = x.dim(1), columns = weight.dim(turned ? 0 : 1);
  const int64_t group = call.integer("group");
  Require(weight.dim(turned ? 1 : 0) == depth && group > 0 && scales.dim(1) == columns &&
              scales.dim(0) * group >= depth && call.arg(3).size() == scales.size(),
          "x, weight and scales do not fit");
  const Bytes bytes{weight.bytes(), turned ? 1 : columns, turned ? depth : 1};
  const float *from = x.floats(), *scale = scales.floats(), *offset = call.arg(3).floats();
  float* out = call.out(0).floats();
  const int64_t panels = (columns + kWidth - 1) / kWidth, parts = call.threads();
  const int64_t each = (kExact + rows) * kWidth;
  Scratch scratch(parts * each);
  call.Tasks(panels, parts, [&](int64_t part, int64_t task) {
    const int64_t first = task * kWidth, wide = std::min<int64_t>(kWidth, columns - first);
    float *panel = scratch.get() + part * each, *result = panel + kExact * kWidth;
    for (int64_t k = 0; k < depth; k += kExact) {
      const int64_t end = std::min(depth, k + kExact);
      Widen(bytes, k, end, first, wide, panel);
      for (int64_t i = k; i < end; ++i) {
        float* to = panel + (i - k) * kWidth;
        const float *s = scale + i / group * columns + first;
        const float *o = offset + i / group * columns + first;
        if (wide == kWidth) {
#pragma GCC ivdep
          for (int64_t j = 0; j < kWidth; ++j) to[j] = (to[j] + o[j]) * s[j];
        } else {
          for (int64_t j = 0; j < wide; ++j) to[j] = (to[j] + o[j]) * s[j];
        }
      }
      MultiplyPanel(rows, end - k, {from + k, depth, 1}, panel, kWidth, result, kWidth, k > 0);
    }
    for (int64_t i = 0; i < rows; ++i) {
      std::memcpy(out + i * columns + first, result + i * kWidth, wide * 4);
    }
  });
}

// out (M, N) int32 = x1 (M, K) int8 by x2 (K, N) int8 or turned (N, K).
void Product(Call& call) {
  const Array x1 = call.arg(0), x2 = call.arg(1);
  const bool turned = call.integer("turned");
  const int64_t rows = x1.dim(0), depth = x1.dim(1), columns = x2.dim(turned ? 0 : 1);
  Require(x2.dim(turned ? 1 : 0) == depth, "x1 and x2 do not fit");
  const Bytes bytes{x2.bytes(), turned ? 1 : columns, turned ? depth : 1};
  const int8_t* left = x1.bytes();
  int32_t* out = call.out(0).ints();
  Scratch wide_left(rows * depth);
  float* from = wide_left.get();
  call.Ranges(rows, call.Parts(rows, 1), [&](int64_t, int64_t begin, int64_t end) {
    for (int64_t i = begin * depth; i < end * depth; ++i) from[i] = left[i];
  });
  const int64_t panels = (columns + kWidth - 1) / kWidth, parts = call.threads();
  const int64_t each = (kExact + rows) * kWidth;
  Scratch scratch(parts * each);
  call.Tasks(panels, parts, [&](int64_t part, int64_t task) {
    const int64_t first = task * kWidth, wide = std::min<int64_t>(kWidth, columns - first);
    float *panel = scratch.get() + part * each, *result = panel + kExact * kWidth;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < wide; ++j) out[i * columns + first + j] = 0;
    }
    for (int64_t k = 0; k < depth; k += kExact) {
      const int64_t end = std::min(depth, k + kExact);
      Widen(bytes, k, end, first, wide, panel);
      MultiplyPanel(rows, end - k, {from + k, depth, 1}, panel, kWidth, result, kWidth, false);
      for (int64_t i = 0; i < rows; ++i) {
        int32_t* to = out + i * columns + first;
        for (int64_t j = 0; j < wide; ++j) {
          // Sums wrap as those of int32 do.
          const uint32_t sum = static_cast<uint32_t>(to[j]) +
                               static_cast<uint32_t>(static_cast<int32_t>(result[i * kWidth + j]));
          to[j] = static_cast<int32_t>(sum);
        }
      }
    }
  });
}

}  // namespace
}  // namespace kernels

KERNEL(weight_quant_matmul, kernels::WeightProduct)
KERNEL(quant_matmul, kernels::Product)
