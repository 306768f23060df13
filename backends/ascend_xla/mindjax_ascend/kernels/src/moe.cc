// Mixtures of experts: the greatest softmax values of each token, and tokens sorted by expert and
// back again.

#include "call.h"
#include "numeric.h"

namespace kernels {
namespace {

constexpr int64_t kSmallest = 1 << 12;  // elements worth a thread

// Shares of the exponentials of a row.
void Shares(const float* x, float* out, int64_t width) {
  float top = -std::numeric_limits<float>::infinity(), sum = 0;
#pragma omp simd reduction(max : top)
  for (int64_t j = 0; j < width; ++j) top = x[j] > top ? x[j] : top;
#pragma omp simd reduction(+ : sum)
  for (int64_t j = 0; j < width; ++j) {
    out[j] = Exp(x[j] - top);
    sum += out[j];
  }
  for (int64_t j = 0; j < width; ++j) out[j] /= sum;
}

void GatingTopK(Call& call) {
  const int64_t width = std::max<int64_t>(call.arg(0).dim(-1), 1), k = call.out(0).dim(-1);
  const int64_t count = call.arg(0).size() / width;
  Require(k <= width, "there are fewer experts than k");
  const float* x = call.arg(0).floats();
  float* values = call.out(0).floats();
  int32_t* experts = call.out(1).ints();
  const int64_t parts = call.Parts(count, kSmallest / width);
  Scratch scratch(parts * width);
  call.Ranges(count, parts, [&](int64_t part, int64_t begin, int64_t end) {
    float* row = scratch.get() + part * width;
    for (int64_t i = begin; i < end; ++i) {
      Shares(x + i * width, row, width);
      if (row[0] != row[0]) {  // not a number, so all are
        for (int64_t c = 0; c < k; ++c) values[i * k + c] = row[c], experts[i * k + c] = c;
        continue;
      }
      for (int64_t c = 0; c < k; ++c) {
        int64_t best = 0;
        for (int64_t j = 1; j < width; ++j) best = row[j] > row[best] ? j : best;
        values[i * k + c] = row[best];
        experts[i * k + c] = best;
        row[best] = -1.0f;
      }
    }
  });
}

void GatingTopKGrad(Call& call) {
  const int64_t width = std::max<int64_t>(call.arg(1).dim(-1), 1), k = call.arg(0).dim(-1);
  const int64_t count = call.arg(1).size() / width;
  const float *d_values = call.arg(0).floats(), *x = call.arg(1).floats();
  const int32_t* experts = call.arg(2).ints();
  float* dx = call.out(0).floats();
  const int64_t parts = call.Parts(count, kSmallest / width);
  Scratch scratch(parts * width);
  call.Ranges(count, parts, [&](int64_t part, int64_t begin, int64_t end) {
    float* row = scratch.get() + part * width;
    for (int64_t i = begin; i < end; ++i) {
      Shares(x + i * width, row, width);
      const int32_t* chosen = experts + i * k;
      const float* d = d_values + i * k;
      float sum = 0, *out = dx + i * width;
      for (int64_t c = 0; c < k; ++c) sum += d[c] * row[chosen[c]];
      for (int64_t j = 0; j < width; ++j) out[j] = -row[j] * sum;
      for (int64_t c = 0; c < k; ++c) out[chosen[c]] += row[chosen[c]] * d[c];
    }
  });
}

// Sorts positions by expert, stably, and tells where each position went.
void Order(const int32_t* experts, int64_t count, int32_t* places) {
  const auto [low, high] = std::minmax_element(experts, experts + count);
  const int64_t range = count == 0 ? 0 : int64_t{*high} - *low + 1;
  if (range <= 4 * count + 1024) {
    std::vector<int32_t> first(range + 1, 0);
    for (int64_t i = 0; i < count; ++i) ++first[experts[i] - *low + 1];
    for (int64_t e = 0; e < range; ++e) first[e + 1] += first[e];
    for (int64_t i = 0; i < count; ++i) places[i] = first[experts[i] - *low]++;
    return;
  }
  std::vector<int32_t> order(count);
  for (int64_t i = 0; i < count; ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return experts[a] < experts[b]; });
  for (int64_t i = 0; i < count; ++i) places[order[i]] = i;
}

void Permute(Call& call) {
  const Array tokens = call.arg(0), experts = call.arg(1);
  const int64_t width = tokens.dim(-1), count = tokens.dim(0), pairs = experts.size();
  const int64_t each = count == 0 ? 1 : pairs / count, kept = call.out(0).dim(0);
  Require(count * each == pairs, "there must be as many rows of indices as tokens");
  const float* from = tokens.floats();
  float* to = call.out(0).floats();
  int32_t* places = call.out(1).ints();
  Order(experts.ints(), pairs, places);
  call.Ranges(pairs, call.Parts(pairs, kSmallest / std::max<int64_t>(width, 1)),
              [&](int64_t, int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  if (places[i] >= kept) continue;
                  std::memcpy(to + places[i] * width, from + i / each * width, width * 4);
                }
              });
}

// Sums each token's rows by its shares; rows that were cut off count as 0.
void Unpermute(Call& call) {
  const Array rows = call.arg(0), shares = call.arg(2);
  const int64_t width = rows.dim(-1), stored = rows.dim(0);
  const int64_t count = shares.dim(0), each = shares.dim(1);
  Require(call.arg(1).size() == count * each, "there must be a share for each index");
  const float *from = rows.floats(), *share = shares.floats();
  const int32_t* places = call.arg(1).ints();
  float* to = call.out(0).floats();
  call.Ranges(count, call.Parts(count, kSmallest / std::max<int64_t>(width * each, 1)),
              [&](int64_t, int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  float* out = to + i * width;
                  std::memset(out, 0, width * 4);
                  for (int64_t c = i * each; c < (i + 1) * each; ++c) {
                    if (places[c] < 0 || places[c] >= stored) continue;
                    const float *row = from + places[c] * width, factor = share[c];
#pragma GCC ivdep
                    for (int64_t j = 0; j < width; ++j) out[j] += row[j] * factor;
                  }
                }
              });
}

void UnpermuteGrad(Call& call) {
  const Array rows = call.arg(1), shares = call.arg(3);
  const int64_t width = rows.dim(-1), stored = rows.dim(0);
  const int64_t count = shares.dim(0), each = shares.dim(1);
  const float *d = call.arg(0).floats(), *from = rows.floats(), *share = shares.floats();
  const int32_t* places = call.arg(2).ints();
  float *d_rows = call.out(0).floats(), *d_shares = call.out(1).floats();
  std::memset(d_rows, 0, stored * width * 4);
  // Rows that two tokens share are summed by one thread.
  std::vector<bool> seen(stored, false);
  bool shared = false;
  for (int64_t c = 0; c < count * each; ++c) {
    if (places[c] < 0 || places[c] >= stored) continue;
    shared = shared || seen[places[c]];
    seen[places[c]] = true;
  }
  const int64_t smallest = kSmallest / std::max<int64_t>(width * each, 1);
  call.Ranges(count, shared ? 1 : call.Parts(count, smallest),
              [&](int64_t, int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  const float* of_out = d + i * width;
                  for (int64_t c = i * each; c < (i + 1) * each; ++c) {
                    float sum = 0;
                    if (places[c] >= 0 && places[c] < stored) {
                      const float *row = from + places[c] * width, factor = share[c];
                      float* to = d_rows + places[c] * width;
#pragma omp simd reduction(+ : sum)
                      for (int64_t j = 0; j < width; ++j) {
                        sum += row[j] * of_out[j];
                        to[j] += factor * of_out[j];
                      }
                    }
                    d_shares[c] = sum;
                  }
                }
              });
}

}  // namespace
}  // namespace kernels

KERNEL(gating_top_k, kernels::GatingTopK)
KERNEL(gating_top_k_grad, kernels::GatingTopKGrad)
KERNEL(moe_permute, kernels::Permute)
KERNEL(moe_unpermute, kernels::Unpermute)
KERNEL(moe_unpermute_grad, kernels::UnpermuteGrad)
