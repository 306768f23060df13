// Products of matrices whose right operand stands in panels; sizes are padded, so no edges occur.
#pragma once

#include <cstdint>

namespace kernels {

#ifdef __AVX512F__
constexpr int kLanes = 16, kRows = 8;
#else
constexpr int kLanes = 8, kRows = 6;
#endif
constexpr int kWidth = 2 * kLanes;  // columns of a panel
typedef float Vector __attribute__((vector_size(kLanes * 4), aligned(4)));

inline int64_t Padded(int64_t count, int64_t to) { return (count + to - 1) / to * to; }

inline Vector Load(const float* p) { return *reinterpret_cast<const Vector*>(p); }
inline void Store(float* p, Vector v) { *reinterpret_cast<Vector*>(p) = v; }

// A left operand: element (i, k) stands at data[i * row + k * column].
struct Left {
  const float* data;
  int64_t row, column;
};

template <int R>
inline __attribute__((always_inline)) void Tile(int64_t depth, Left a, const float* b,
                                                int64_t b_row, float* c, int64_t c_row,
                                                bool add) {
  Vector sum[R][2];
#pragma GCC unroll 8
  for (int i = 0; i < R; ++i) {
    sum[i][0] = add ? Load(c + i * c_row) : Vector{};
    sum[i][1] = add ? Load(c + i * c_row + kLanes) : Vector{};
  }
#pragma GCC unroll 1
  for (int64_t k = 0; k < depth; ++k) {
    const Vector first = Load(b + k * b_row), second = Load(b + k * b_row + kLanes);
    const float* left = a.data + k * a.column;
#pragma GCC unroll 8
    for (int i = 0; i < R; ++i) {
      const float x = left[i * a.row];
      sum[i][0] += x * first;
      sum[i][1] += x * second;
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < R; ++i) {
    Store(c + i * c_row, sum[i][0]);
    Store(c + i * c_row + kLanes, sum[i][1]);
  }
}

// c (rows, kWidth) = a (rows, depth) * b (depth, kWidth), or += with add.
inline void MultiplyPanel(int64_t rows, int64_t depth, Left a, const float* b, int64_t b_row,
                          float* c, int64_t c_row, bool add) {
  int64_t i = 0;
  auto left = [&] { return Left{a.data + i * a.row, a.row, a.column}; };
  for (; rows - i >= kRows; i += kRows) {
    Tile<kRows>(depth, left(), b, b_row, c + i * c_row, c_row, add);
  }
  if (rows - i >= 4) Tile<4>(depth, left(), b, b_row, c + i * c_row, c_row, add), i += 4;
  if (rows - i >= 2) Tile<2>(depth, left(), b, b_row, c + i * c_row, c_row, add), i += 2;
  if (rows - i >= 1) Tile<1>(depth, left(), b, b_row, c + i * c_row, c_row, add);
}

// c (R, V * kLanes) += a * b, where row i of a begins at rows[i].
template <int R, int V>
inline __attribute__((always_inline)) void AddRows(int64_t depth, const float* const* rows,
                                                   int64_t column, const float* b, int64_t b_row,
                                                   float* c, int64_t c_row) {
  const float* from[R];
  Vector sum[R][V];
#pragma GCC unroll 8
  for (int i = 0; i < R; ++i) {
    from[i] = rows[i];
#pragma GCC unroll 2
    for (int j = 0; j < V; ++j) sum[i][j] = Load(c + i * c_row + j * kLanes);
  }
#pragma GCC unroll 1
  for (int64_t k = 0; k < depth; ++k, b += b_row) {
    Vector part[V];
#pragma GCC unroll 2
    for (int j = 0; j < V; ++j) part[j] = Load(b + j * kLanes);
#pragma GCC unroll 8
    for (int i = 0; i < R; ++i) {
      const float x = from[i][k * column];
#pragma GCC unroll 2
      for (int j = 0; j < V; ++j) sum[i][j] += x * part[j];
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < R; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < V; ++j) Store(c + i * c_row + j * kLanes, sum[i][j]);
  }
}

// c (rows, columns) = a * b, columns a multiple of kWidth; b is (depth, columns) with rows b_row
// apart.
inline void Multiply(int64_t rows, int64_t columns, int64_t depth, Left a, const float* b,
                     int64_t b_row, float* c, int64_t c_row, bool add) {
  for (int64_t j = 0; j < columns; j += kWidth) {
    MultiplyPanel(rows, depth, a, b + j, b_row, c + j, c_row, add);
  }
}

// Copies (rows, columns) and fills up with zeros to (all_rows, all_columns).
inline void CopyPadded(const float* from, int64_t from_row, int64_t rows, int64_t columns,
                       float* to, int64_t all_rows, int64_t all_columns) {
  for (int64_t i = 0; i < all_rows; ++i) {
    for (int64_t j = 0; j < all_columns; ++j) {
      to[i * all_columns + j] = i < rows && j < columns ? from[i * from_row + j] : 0.0f;
    }
  }
}

// The same, turned: from (rows, columns) to (all_columns, all_rows).
inline void CopyTurned(const float* from, int64_t from_row, int64_t rows, int64_t columns,
                       float* to, int64_t all_rows, int64_t all_columns) {
  for (int64_t j = 0; j < all_columns; ++j) {
    for (int64_t i = 0; i < all_rows; ++i) {
      to[j * all_rows + i] = i < rows && j < columns ? from[i * from_row + j] : 0.0f;
    }
  }
}

}  // namespace kernels
