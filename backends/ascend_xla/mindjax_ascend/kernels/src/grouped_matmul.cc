// Products of groups of rows, each by a matrix of its own, and their gradients.
//
// ends[e] is where the rows of group e end; rows of no group give 0.

#include "call.h"
#include "gemm.h"
#include "numeric.h"

namespace kernels {
namespace {

struct Group {
  int64_t begin, end;
};

std::vector<Group> GroupsOf(const Array& ends, int64_t rows) {
  std::vector<Group> groups(ends.size());
  int64_t begin = 0;
  for (int64_t e = 0; e < ends.size(); ++e) {
    const int64_t end = std::min<int64_t>(std::max<int64_t>(ends.ints()[e], begin), rows);
    groups[e] = {begin, end};
    begin = end;
  }
  return groups;
}

// out (M, N) = x (M, K) by weight (E, K, N), or by its turned matrices (E, N, K) with `turned`.
void Product(Call& call) {
  const Array x = call.arg(0), weight = call.arg(1);
  const bool turned = call.integer("turned");
  const int64_t rows = x.dim(0), depth = x.dim(1), sets = weight.dim(0);
  const int64_t columns = weight.dim(turned ? 1 : 2);
  Require(weight.dim(turned ? 2 : 1) == depth && call.arg(2).size() == sets,
          "x, weight and groups do not fit");
  const float *from = x.floats(), *matrices = weight.floats();
  float* out = call.out(0).floats();
  const std::vector<Group> groups = GroupsOf(call.arg(2), rows);
  const int64_t last = groups.empty() ? 0 : groups.back().end;
  std::memset(out + last * columns, 0, (rows - last) * columns * sizeof(float));
  const int64_t panels = (columns + kWidth - 1) / kWidth, parts = call.threads();
  int64_t longest = 0;
  for (const Group& g : groups) longest = std::max(longest, g.end - g.begin);
  const int64_t each = (depth + longest) * kWidth;
  Scratch scratch(parts * each);
  call.Tasks(sets * panels, parts, [&](int64_t part, int64_t task) {
    const Group g = groups[task / panels];
    if (g.begin == g.end) return;
    const int64_t first = task % panels * kWidth, wide = std::min<int64_t>(kWidth, columns - first);
    const float* w = matrices + task / panels * depth * columns;
    float *panel = scratch.get() + part * each, *result = panel + depth * kWidth;
    if (turned) {
      CopyTurned(w + first * depth, depth, wide, depth, panel, kWidth, depth);
    } else {
      CopyPadded(w + first, columns, depth, wide, panel, depth, kWidth);
    }
    const Left left{from + g.begin * depth, depth, 1};
    if (wide == kWidth) {
      MultiplyPanel(g.end - g.begin, depth, left, panel, kWidth, out + g.begin * columns + first,
                    columns, false);
      return;
    }
    MultiplyPanel(g.end - g.begin, depth, left, panel, kWidth, result, kWidth, false);
    for (int64_t i = g.begin; i < g.end; ++i) {
      std::memcpy(out + i * columns + first, result + (i - g.begin) * kWidth, wide * 4);
    }
  });
}

// out (E, K, N): for each group the turned rows of x (M, K) by those of dy (M, N).
void WeightGrad(Call& call) {
  const Array x = call.arg(0), dy = call.arg(1);
  const int64_t rows = x.dim(0), depth = x.dim(1), columns = dy.dim(1);
  const int64_t sets = call.arg(2).size(), panels = (columns + kWidth - 1) / kWidth;
  Require(dy.dim(0) == rows, "x and the gradient do not fit");
  const float *from = x.floats(), *d = dy.floats();
  float* out = call.out(0).floats();
  const std::vector<Group> groups = GroupsOf(call.arg(2), rows);
  const int64_t parts = call.threads(), each = (depth + rows) * kWidth;
  Scratch scratch(parts * each);
  call.Tasks(sets * panels, parts, [&](int64_t part, int64_t task) {
    const Group g = groups[task / panels];
    const int64_t count = g.end - g.begin;
    const int64_t first = task % panels * kWidth, wide = std::min<int64_t>(kWidth, columns - first);
    float *panel = scratch.get() + part * each, *result = panel + rows * kWidth;
    CopyPadded(d + g.begin * columns + first, columns, count, wide, panel, count, kWidth);
    MultiplyPanel(depth, count, {from + g.begin * depth, 1, depth}, panel, kWidth, result, kWidth,
                  false);
    float* to = out + task / panels * depth * columns + first;
    for (int64_t k = 0; k < depth; ++k) {
      std::memcpy(to + k * columns, result + k * kWidth, wide * 4);
    }
  });
}

}  // namespace
}  // namespace kernels

KERNEL(grouped_matmul, kernels::Product)
KERNEL(grouped_matmul_grad, kernels::WeightGrad)
