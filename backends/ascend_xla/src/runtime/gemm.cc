#include "gemm.h"

#include <algorithm>
#include <cstring>

#include "map.h"
#include "parallel.h"
#include "tile.h"

namespace ascend {
namespace {

// Panels of kDepth stay in the caches.
constexpr int64_t kDepth = 256, kPanelRows = 96, kPanelColumns = 1920;

// Copies rows of a panel of `a`, a tile's at a time, depth by depth; missing rows are zero.
void PackRows(float* to, Matrix<const float> a, int64_t rows, int64_t depth, int64_t unit) {
  for (int64_t r = 0; r < rows; r += unit) {
    const int64_t present = std::min(unit, rows - r);
    const float* from = a.data + r * a.row;
    for (int64_t d = 0; d < depth; d++, from += a.column, to += unit) {
      for (int64_t i = 0; i < present; i++) to[i] = from[i * a.row];
      for (int64_t i = present; i < unit; i++) to[i] = 0;
    }
  }
}

void PackColumns(float* to, Matrix<const float> b, int64_t depth, int64_t columns, int64_t unit) {
  for (int64_t c = 0; c < columns; c += unit) {
    const int64_t present = std::min(unit, columns - c);
    const float* from = b.data + c * b.column;
    for (int64_t d = 0; d < depth; d++, from += b.row, to += unit) {
      if (b.column == 1 && present == unit) {
        std::memcpy(to, from, sizeof(float) * unit);
        continue;
      }
      for (int64_t j = 0; j < present; j++) to[j] = from[j * b.column];
      for (int64_t j = present; j < unit; j++) to[j] = 0;
    }
  }
}

void AddTile(const float* tile, int64_t width, Matrix<float> c, int64_t rows, int64_t columns,
             bool first) {
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++) {
      float& to = c.data[i * c.row + j * c.column];
      to = first ? tile[i * width + j] : to + tile[i * width + j];
    }
}

int64_t Up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

void RowsTimesPanel(const Tile& tile, int64_t begin, int64_t end, int64_t columns, int64_t depth,
                    Matrix<const float> a, const float* packed_b, Matrix<float> c, bool first) {
  float* packed_a =
      reinterpret_cast<float*>(Scratch(sizeof(float) * Up(kPanelRows, tile.rows) * kDepth, 1));
  for (int64_t r = begin; r < end; r += kPanelRows) {
    const int64_t rows = std::min(kPanelRows, end - r);
    PackRows(packed_a, {a.data + r * a.row, a.row, a.column}, rows, depth, tile.rows);
    for (int64_t j = 0; j < columns; j += tile.columns)
      for (int64_t i = 0; i < rows; i += tile.rows) {
        float block[kTileNumbers];
        tile.packed(packed_a + i * depth, packed_b + j * depth, depth, block);
        AddTile(block, tile.columns,
                {c.data + (r + i) * c.row + j * c.column, c.row, c.column},
                std::min<int64_t>(tile.rows, rows - i),
                std::min<int64_t>(tile.columns, columns - j), first);
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
  const Tile& tile = TileFor(m, n);
  if (2 * TileCost(TileFor(n, m), n, m) < TileCost(tile, m, n)) {
    // The transposed product fills tiles so much better that its scattered results pay.
    Gemm(n, m, k, {b.data, b.column, b.row}, {a.data, a.column, a.row},
         {c.data, c.column, c.row});
    return;
  }
  const int64_t panel_columns = std::min(n, kPanelColumns);
  float* packed_b = reinterpret_cast<float*>(
      Scratch(sizeof(float) * Up(panel_columns, tile.columns) * std::min(k, kDepth), 2));
  for (int64_t j = 0; j < n; j += panel_columns) {
    const int64_t columns = std::min(panel_columns, n - j);
    for (int64_t d = 0; d < k; d += kDepth) {
      const int64_t depth = std::min(kDepth, k - d);
      PackColumns(packed_b, {b.data + d * b.row + j * b.column, b.row, b.column}, depth, columns,
                  tile.columns);
      // A part is worth a thread from about 100,000 multiplications on.
      const int64_t unit = tile.rows, grain = 100000 / (columns * depth) + 1;
      ParallelFor((m + unit - 1) / unit, (grain + unit - 1) / unit,
                  [&](int64_t begin, int64_t end) {
                    RowsTimesPanel(tile, begin * unit, std::min(m, end * unit), columns, depth,
                                   {a.data + d * a.column, a.row, a.column}, packed_b,
                                   {c.data + j * c.column, c.row, c.column}, d == 0);
                  });
    }
  }
}

}  // namespace ascend
