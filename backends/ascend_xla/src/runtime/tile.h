// The inner loops of products of matrices and convolutions.
#pragma once
#include <cstdint>

namespace ascend {

// A block of a product that stays in registers: c = a b, of rows x columns, both written densely.
struct Tile {
  int rows, columns;
  // `a` holds rows numbers for each depth, `b` holds columns numbers for each.
  void (*packed)(const float* a, const float* b, int64_t depth, float* c);
  // The numbers of `b` for each depth begin at an offset.
  void (*scattered)(const float* a, const float* b, const int64_t* offsets, int64_t depth,
                    float* c);
};

// The tile of this processor that fills a result of this shape with least waste.
const Tile& TileFor(int64_t rows, int64_t columns);

// How many multiplications a tile spends on a result, with those that are thrown away.
int64_t TileCost(const Tile& tile, int64_t rows, int64_t columns);

// Room for the largest tile.
constexpr int kTileNumbers = 512;

}  // namespace ascend
