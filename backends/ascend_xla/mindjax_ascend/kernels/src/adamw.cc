// AdamW over many parameters in one call: each parameter and its moments are read and written once.

#include "call.h"
#include "numeric.h"

namespace kernels {
namespace {

constexpr int64_t kBlock = 1 << 15;

// Arguments: six numbers (1 - beta1, 1 - beta2, rate, epsilon, keep, scale), then parameter, mean,
// square and gradient for each; results: parameter, mean and square for each.
void AdamW(Call& call) {
  Require(call.arg(0).size() == 6 && call.args() % 4 == 1, "there must be 6 numbers and fours");
  const float* n = call.arg(0).floats();
  const float mean_share = n[0], square_share = n[1], rate = n[2], epsilon = n[3], keep = n[4];
  const float scale = n[5];
  struct Block {
    const float *p, *m, *v, *g;
    float *new_p, *new_m, *new_v;
    int64_t count;
  };
  std::vector<Block> blocks;
  for (int64_t i = 0; i < call.args() / 4; ++i) {
    const int64_t size = call.arg(4 * i + 1).size();
    for (int64_t k = 2; k < 5; ++k) {
      Require(call.arg(4 * i + k).size() == size, "moments and gradient must be like a parameter");
    }
    for (int64_t at = 0; at < size; at += kBlock) {
      blocks.push_back({call.arg(4 * i + 1).floats() + at, call.arg(4 * i + 2).floats() + at,
                        call.arg(4 * i + 3).floats() + at, call.arg(4 * i + 4).floats() + at,
                        call.out(3 * i).floats() + at, call.out(3 * i + 1).floats() + at,
                        call.out(3 * i + 2).floats() + at, std::min(kBlock, size - at)});
    }
  }
  call.Parallel(blocks.size(), [&](int64_t job) {
    const Block& b = blocks[job];
    // A result may be its own operand, but no other's.
#pragma GCC ivdep
    for (int64_t i = 0; i < b.count; ++i) {
      const float g = b.g[i], mean = b.m[i] + (g - b.m[i]) * mean_share;
      const float square = b.v[i] + (g * g - b.v[i]) * square_share;
      b.new_m[i] = mean;
      b.new_v[i] = square;
      b.new_p[i] = b.p[i] * keep - rate * mean / (std::sqrt(square) * scale + epsilon);
    }
  });
}

}  // namespace
}  // namespace kernels

KERNEL(adamw, kernels::AdamW)
