#include "gemm.h"

#include <algorithm>
#include <cstring>

#include "map.h"
#include "parallel.h"

namespace ascend {
namespace {

// Tiles of 6 x 16 stay in registers; panels of kDepth stay in the caches.
constexpr int kRows = 6, kColumns = 16, kVector = 8;
constexpr int64_t kDepth = 256, kPanelRows = 96, kPanelColumns = 2048;
typedef float Vector __attribute__((vector_size(4 * kVector), aligned(4)));

// Copies rows of a panel of `a`, kRows at a time, depth by depth; missing rows are zero.
void PackRows(float* to, Matrix<const float> a, int64_t rows, int64_t depth) {
  for (int64_t r = 0; r < rows; r += kRows) {
    const int64_t present = std::min<int64_t>(kRows, rows - r);
    const float* from = a.data + r * a.row;
    for (int64_t d = 0; d < depth; d++, from += a.column, to += kRows) {
      for (int64_t i = 0; i < present; i++) to[i] = from[i * a.row];
      for (int64_t i = present; i < kRows; i++) to[i] = 0;
    }
  }
}

void PackColumns(float* to, Matrix<const float> b, int64_t depth, int64_t columns) {
  for (int64_t c = 0; c < columns; c += kColumns) {
    const int64_t present = std::min<int64_t>(kColumns, columns - c);
    const float* from = b.data + c * b.column;
    for (int64_t d = 0; d < depth; d++, from += b.row, to += kColumns) {
      if (b.column == 1 && present == kColumns) {
        std::memcpy(to, from, sizeof(float) * kColumns);
        continue;
      }
      for (int64_t j = 0; j < present; j++) to[j] = from[j * b.column];
      for (int64_t j = present; j < kColumns; j++) to[j] = 0;
    }
  }
}

void Tile(const float* a, const float* b, int64_t depth, float* result) {
  Vector sum[kRows][2] = {};
  for (int64_t d = 0; d < depth; d++, a += kRows, b += kColumns) {
    const Vector first = *reinterpret_cast<const Vector*>(b);
    const Vector second = *reinterpret_cast<const Vector*>(b + kVector);
    for (int i = 0; i < kRows; i++) {
      sum[i][0] += a[i] * first;
      sum[i][1] += a[i] * second;
    }
  }
  std::memcpy(result, sum, sizeof sum);
}

void AddTile(const float* tile, Matrix<float> c, int64_t rows, int64_t columns, bool first) {
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++) {
      float& to = c.data[i * c.row + j * c.column];
      to = first ? tile[i * kColumns + j] : to + tile[i * kColumns + j];
    }
}

int64_t Up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

void RowsTimesPanel(int64_t begin, int64_t end, int64_t columns, int64_t depth,
                    Matrix<const float> a, const float* packed_b, Matrix<float> c, bool first) {
  float* packed_a =
      reinterpret_cast<float*>(Scratch(sizeof(float) * Up(kPanelRows, kRows) * kDepth, 1));
  for (int64_t r = begin; r < end; r += kPanelRows) {
    const int64_t rows = std::min(kPanelRows, end - r);
    PackRows(packed_a, {a.data + r * a.row, a.row, a.column}, rows, depth);
    for (int64_t j = 0; j < columns; j += kColumns)
      for (int64_t i = 0; i < rows; i += kRows) {
        float tile[kRows * kColumns];
        Tile(packed_a + i * depth, packed_b + j * depth, depth, tile);
        AddTile(tile, {c.data + (r + i) * c.row + j * c.column, c.row, c.column},
                std::min<int64_t>(kRows, rows - i), std::min<int64_t>(kColumns, columns - j),
                first);
      }
  }
}

}  // namespace

void Gemm(int64_t m, int64_t n, int64_t k, Matrix<const float> a, Matrix<const float> b,
          Matrix<float> c) {
  if (m == 0 || n == 0) return;
  if (k == 0) {
    for (int64_t i = 0; i < m; i++)
      for (int64_t j = 0; j < n; j++) c.data[i * c.row + j * c.column] = 0;
    return;
  }
  if (m < n && m < kRows) {
    // A row vector times a matrix: the transposed product fills the tiles better.
    Gemm(n, m, k, {b.data, b.column, b.row}, {a.data, a.column, a.row},
         {c.data, c.column, c.row});
    return;
  }
  const int64_t panel_columns = std::min(n, kPanelColumns);
  float* packed_b = reinterpret_cast<float*>(
      Scratch(sizeof(float) * Up(panel_columns, kColumns) * std::min(k, kDepth), 2));
  for (int64_t j = 0; j < n; j += panel_columns) {
    const int64_t columns = std::min(panel_columns, n - j);
    for (int64_t d = 0; d < k; d += kDepth) {
      const int64_t depth = std::min(kDepth, k - d);
      PackColumns(packed_b, {b.data + d * b.row + j * b.column, b.row, b.column}, depth, columns);
      // A part is worth a thread from about 100,000 multiplications on.
      const int64_t grain = std::max<int64_t>(kRows, 100000 / (columns * depth) + 1);
      ParallelFor((m + kRows - 1) / kRows, (grain + kRows - 1) / kRows,
                  [&](int64_t begin, int64_t end) {
                    RowsTimesPanel(begin * kRows, std::min(m, end * kRows), columns, depth,
                                   {a.data + d * a.column, a.row, a.column}, packed_b,
                                   {c.data + j * c.column, c.row, c.column}, d == 0);
                  });
    }
  }
}

}  // namespace ascend
