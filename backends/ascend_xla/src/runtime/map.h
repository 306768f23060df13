// Scalar programs: a few operators applied element by element to blocks.
#pragma once
#include <memory>
#include <vector>

#include "map_ops.h"
#include "program.h"

namespace ascend {

constexpr int64_t kBlock = 1024;

struct ScalarCode {
  struct Instruction {
    MapFunction function;
    int to, a, b, c;
    MapOp op;
    int type;
  };
  // A register that holds the same number in all elements.
  struct Constant {
    int slot;
    size_t element;
    int64_t bits;
  };
  int inputs, registers, outputs;
  std::vector<Constant> constants;
  std::vector<Instruction> instructions;
  explicit ScalarCode(Numbers& in);
  // Applies the code to n <= kBlock elements. `slots` holds the addresses of inputs, registers
  // and outputs, in this order.
  void Run(char* const* slots, int64_t n) const {
    for (const Instruction& i : instructions)
      i.function(slots[i.to], i.a < 0 ? nullptr : slots[i.a], i.b < 0 ? nullptr : slots[i.b],
                 i.c < 0 ? nullptr : slots[i.c], n);
  }
  // Writes the constants' registers, for blocks of up to n elements.
  void FillConstants(char* const* slots, int64_t n) const;
  // If the code is one binary operator of its two inputs, that; else kCount.
  MapOp single() const;
  // Room for registers: this many bytes.
  size_t scratch() const { return static_cast<size_t>(registers) * kBlock * 8; }
};

// A thread's own scratch memory of at least this size; nested users take different levels.
char* Scratch(size_t bytes, int level = 0);

}  // namespace ascend
