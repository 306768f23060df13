// Products with matrices of int8.
//
// Where the processor multiplies bytes (VNNI), products of int8 by int8 use that. Elsewhere, and for
// weights of int8 alone, the vectors multiply in float: a sum of products of int8 over at most 1024 elements is a whole
// number below 2^24, which float holds exactly.

#ifdef __AVX512VNNI__
#include <immintrin.h>
#endif

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

struct Product {
  int64_t rows, depth, columns;
  const int8_t* left;
  Bytes right;
  int32_t* out;
};

#ifdef __AVX512VNNI__

// The instruction takes unsigned bytes from the left: 128 is added there, and 128 times a column's
// sum taken off at the end. Bytes stand in fours along the depth.
template <int R>
void ByteTile(int64_t fours, const uint8_t* a, const int8_t* b, const int32_t* offset, int64_t wide,
              int32_t* out, int64_t out_row) {
  __m512i sum[R][2];
#pragma GCC unroll 8
  for (int i = 0; i < R; ++i) {
    sum[i][0] = _mm512_loadu_si512(offset);
    sum[i][1] = _mm512_loadu_si512(offset + 16);
  }
  for (int64_t k = 0; k < fours; ++k) {
    const __m512i first = _mm512_loadu_si512(b + k * 128);
    const __m512i second = _mm512_loadu_si512(b + k * 128 + 64);
#pragma GCC unroll 8
    for (int i = 0; i < R; ++i) {
      int32_t four;
      std::memcpy(&four, a + (i * fours + k) * 4, 4);
      const __m512i x = _mm512_set1_epi32(four);
      sum[i][0] = _mm512_dpbusd_epi32(sum[i][0], x, first);
      sum[i][1] = _mm512_dpbusd_epi32(sum[i][1], x, second);
    }
  }
  int32_t row[32];
  for (int i = 0; i < R; ++i) {
    _mm512_storeu_si512(row, sum[i][0]);
    _mm512_storeu_si512(row + 16, sum[i][1]);
    std::memcpy(out + i * out_row, row, wide * sizeof(int32_t));
  }
}

// Four rows of a panel, side by side, and their share of the offsets.
void Fours(const Product& p, int64_t k, int64_t first, int64_t wide, int8_t* to, int32_t* offset) {
  const int8_t* from = p.right.data + 4 * k * p.right.row + first * p.right.column;
  const int64_t row = p.right.row;
  if (wide == 32 && p.right.column == 1 && 4 * k + 4 <= p.depth) {
    uint32_t four[32];
    for (int j = 0; j < 32; ++j) {
      const int32_t a = from[j], b = from[row + j], c = from[2 * row + j], d = from[3 * row + j];
      four[j] = (a & 255) | (b & 255) << 8 | (c & 255) << 16 | static_cast<uint32_t>(d) << 24;
      offset[j] -= 128 * (a + b + c + d);
    }
    std::memcpy(to, four, 128);
    return;
  }
  std::memset(to, 0, 128);
  const int64_t count = std::min<int64_t>(4, p.depth - 4 * k);
  for (int64_t j = 0; j < wide; ++j) {
    for (int64_t i = 0; i < count; ++i) {
      to[4 * j + i] = from[i * row + j * p.right.column];
      offset[j] -= 128 * to[4 * j + i];
    }
  }
}

void Multiply(const Call& call, const Product& p) {
  const int64_t fours = (p.depth + 3) / 4, parts = call.threads();
  std::vector<uint8_t> left(p.rows * fours * 4, 0);
  for (int64_t i = 0; i < p.rows; ++i) {
    for (int64_t k = 0; k < p.depth; ++k) {
      left[i * fours * 4 + k] = static_cast<uint8_t>(p.left[i * p.depth + k]) ^ 0x80;
    }
  }
  std::vector<int8_t> scratch(parts * fours * 128);
  call.Tasks((p.columns + 31) / 32, parts, [&](int64_t part, int64_t task) {
    const int64_t first = task * 32, wide = std::min<int64_t>(32, p.columns - first);
    int8_t* panel = scratch.data() + part * fours * 128;
    int32_t offset[32] = {};
    for (int64_t k = 0; k < fours; ++k) {
      Fours(p, k, first, wide, panel + k * 128, offset);
    }
    int32_t* out = p.out + first;
    int64_t i = 0;
    for (; i + 8 <= p.rows; i += 8) {
      ByteTile<8>(fours, left.data() + i * fours * 4, panel, offset, wide, out + i * p.columns,
                  p.columns);
    }
    for (; i < p.rows; ++i) {
      ByteTile<1>(fours, left.data() + i * fours * 4, panel, offset, wide, out + i * p.columns,
                  p.columns);
    }
  });
}

#else

void Multiply(const Call& call, const Product& p) {
  Scratch wide_left(p.rows * p.depth);
  float* from = wide_left.get();
  for (int64_t i = 0; i < p.rows * p.depth; ++i) from[i] = p.left[i];
  const int64_t panels = (p.columns + kWidth - 1) / kWidth, parts = call.threads();
  const int64_t each = (kExact + p.rows) * kWidth;
  Scratch scratch(parts * each);
  call.Tasks(panels, parts, [&](int64_t part, int64_t task) {
    const int64_t first = task * kWidth, wide = std::min<int64_t>(kWidth, p.columns - first);
    float *panel = scratch.get() + part * each, *result = panel + kExact * kWidth;
    for (int64_t i = 0; i < p.rows; ++i) {
      std::memset(p.out + i * p.columns + first, 0, wide * sizeof(int32_t));
    }
    for (int64_t k = 0; k < p.depth; k += kExact) {
      const int64_t end = std::min(p.depth, k + kExact);
      Widen(p.right, k, end, first, wide, panel);
      MultiplyPanel(p.rows, end - k, {from + k, p.depth, 1}, panel, kWidth, result, kWidth, false);
      for (int64_t i = 0; i < p.rows; ++i) {
        int32_t* to = p.out + i * p.columns + first;
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

#endif

// out (M, N) int32 = x1 (M, K) int8 by x2 (K, N) int8 or turned (N, K).
void QuantProduct(Call& call) {
  const Array x1 = call.arg(0), x2 = call.arg(1);
  const bool turned = call.integer("turned");
  const int64_t rows = x1.dim(0), depth = x1.dim(1), columns = x2.dim(turned ? 0 : 1);
  Require(x2.dim(turned ? 1 : 0) == depth, "x1 and x2 do not fit");
  const Bytes bytes{x2.bytes(), turned ? 1 : columns, turned ? depth : 1};
  Multiply(call, {rows, depth, columns, x1.bytes(), bytes, call.out(0).ints()});
}

}  // namespace
}  // namespace kernels

KERNEL(weight_quant_matmul, kernels::WeightProduct)
KERNEL(quant_matmul, kernels::QuantProduct)
