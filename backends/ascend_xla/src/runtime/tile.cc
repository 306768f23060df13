#include "tile.h"

#include <cstring>
#include <vector>

namespace ascend {
namespace {

// Loaded by copies of bytes: panels begin at any number.
typedef float Eight __attribute__((vector_size(32)));
typedef float Sixteen __attribute__((vector_size(64)));

template <int kRows, int kVectors, typename Vector, typename At>
inline __attribute__((always_inline)) void MultiplyPanels(const float* a, At at, int64_t depth,
                                                    float* c) {
  // A loop over the block that is not unrolled whole keeps its sums in memory.
  Vector sum[kRows][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; i++)
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; j++) sum[i][j] = Vector{};
#pragma GCC unroll 1
  for (int64_t d = 0; d < depth; d++, a += kRows) {
    const float* b = at(d);
    Vector part[kVectors];
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; j++)
      std::memcpy(&part[j], b + j * (sizeof(Vector) / sizeof(float)), sizeof(Vector));
#pragma GCC unroll 16
    for (int i = 0; i < kRows; i++)
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; j++) sum[i][j] += a[i] * part[j];
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; i++)
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; j++)
      std::memcpy(c + (i * kVectors + j) * (sizeof(Vector) / sizeof(float)), &sum[i][j],
                  sizeof(Vector));
}

struct DensePanel {
  const float* b;
  int64_t columns;
  inline __attribute__((always_inline)) const float* operator()(int64_t d) const {
    return b + d * columns;
  }
};
struct IndexedPanel {
  const float* b;
  const int64_t* offsets;
  inline __attribute__((always_inline)) const float* operator()(int64_t d) const {
    return b + offsets[d];
  }
};

// Defines both functions of a tile, for the processors that have an instruction set.
#define TILE(name, target, rows, vectors, Vector)                                               \
  target void Packed##name(const float* a, const float* b, int64_t depth, float* c) {           \
    MultiplyPanels<rows, vectors, Vector>(                                                            \
        a, DensePanel{b, vectors * static_cast<int64_t>(sizeof(Vector) / sizeof(float))}, depth, c); \
  }                                                                                             \
  target void Scattered##name(const float* a, const float* b, const int64_t* offsets,           \
                              int64_t depth, float* c) {                                        \
    MultiplyPanels<rows, vectors, Vector>(a, IndexedPanel{b, offsets}, depth, c);                          \
  }                                                                                             \
  const Tile tile##name = {rows, vectors * static_cast<int>(sizeof(Vector) / sizeof(float)),    \
                           Packed##name, Scattered##name};

#define ANY
TILE(6x16, ANY, 6, 2, Eight)
TILE(4x24, ANY, 4, 3, Eight)
#if defined(__x86_64__)
#define WIDE __attribute__((target("avx512f,fma")))
TILE(12x32, WIDE, 12, 2, Sixteen)
TILE(8x48, WIDE, 8, 3, Sixteen)
TILE(6x64, WIDE, 6, 4, Sixteen)
TILE(12x16, WIDE, 12, 1, Sixteen)
#endif

std::vector<Tile> Known() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {tile12x32, tile8x48, tile6x64, tile12x16};
#endif
  return {tile6x16, tile4x24};
}

}  // namespace

int64_t TileCost(const Tile& tile, int64_t rows, int64_t columns) {
  return (rows + tile.rows - 1) / tile.rows * ((columns + tile.columns - 1) / tile.columns) *
         (tile.rows * tile.columns + 32);
}

const Tile& TileFor(int64_t rows, int64_t columns) {
  static const std::vector<Tile> known = Known();
  const Tile* best = &known[0];
  for (const Tile& tile : known)
    if (TileCost(tile, rows, columns) < TileCost(*best, rows, columns)) best = &tile;
  return *best;
}

}  // namespace ascend
