// Attention by blocks of queries and keys (Dao 2022): the scores of a block are made, used and
// forgotten, so memory grows with the length and not with its square.
//
// Arrays are (..., S, N, D), leading axes are a batch. Query i sees the keys i - before to i + after
// whose byte in the mask is 0. The mask is (..., 1 or N, S1, S2), or empty.

#include "call.h"
#include "gemm.h"
#include "numeric.h"

namespace kernels {
namespace {

constexpr int64_t kQueries = 64, kKeys = 128;
constexpr float kHidden = -std::numeric_limits<float>::infinity();

struct Problem {
  int64_t batch, queries, keys, heads, key_heads, size, value_size;
  int64_t before, after;
  float scale;
  const float *q, *k, *v;
  const uint8_t* mask;  // null for none
  int64_t mask_each, mask_heads;

  int64_t padded() const { return Padded(size, kWidth); }
  int64_t value_padded() const { return Padded(value_size, kWidth); }
  int64_t key_blocks() const { return (keys + kKeys - 1) / kKeys; }
  int64_t query_blocks() const { return (queries + kQueries - 1) / kQueries; }
  int64_t query_row() const { return heads * size; }
  int64_t key_row() const { return key_heads * size; }
  int64_t value_row() const { return key_heads * value_size; }
  int64_t out_row() const { return heads * value_size; }
  const float* query_at(int64_t b, int64_t i, int64_t n) const {
    return q + ((b * queries + i) * heads + n) * size;
  }
  const float* key_at(int64_t b, int64_t j, int64_t m) const {
    return k + ((b * keys + j) * key_heads + m) * size;
  }
  const float* value_at(int64_t b, int64_t j, int64_t m) const {
    return v + ((b * keys + j) * key_heads + m) * value_size;
  }
  // Of an array like the result.
  int64_t out_at(int64_t b, int64_t i, int64_t n) const {
    return ((b * queries + i) * heads + n) * value_size;
  }
  // Whether queries from `first`, `rows` of them, see any key of a block.
  bool Meet(int64_t first, int64_t rows, int64_t key) const {
    return key <= first + rows - 1 + after && key + kKeys - 1 >= first - before;
  }

  // Turns products of query i with a block of keys into scores.
  void Score(float* row, int64_t b, int64_t n, int64_t i, int64_t key) const {
    const int64_t low = std::max<int64_t>(0, i - before - key);
    const int64_t high = std::min(std::min(keys, i + after + 1) - key, kKeys);
    for (int64_t j = 0; j < kKeys; ++j) {
      row[j] = j >= low && j < high ? row[j] * scale : kHidden;
    }
    if (mask == nullptr) return;
    const int64_t at = b / mask_each * mask_heads + (mask_heads == 1 ? 0 : n);
    const uint8_t* hidden = mask + (at * queries + i) * keys + key;
    const int64_t count = std::min(keys - key, kKeys);
    for (int64_t j = 0; j < count; ++j) row[j] = hidden[j] ? kHidden : row[j];
  }
};

Problem ProblemOf(const Call& call) {
  const Array q = call.arg(0), k = call.arg(1), v = call.arg(2), mask = call.arg(3);
  Problem p{};
  p.queries = q.dim(-3), p.heads = q.dim(-2), p.size = q.dim(-1);
  p.keys = k.dim(-3), p.key_heads = k.dim(-2), p.value_size = v.dim(-1);
  Require(k.dim(-1) == p.size, "query and key must have the same head size");
  Require(v.dim(-3) == p.keys && v.dim(-2) == p.key_heads, "key and value do not fit");
  p.batch = 1;
  for (int64_t i = 0; i < q.rank() - 3; ++i) p.batch *= q.dim(i);
  Require(k.size() == p.batch * p.keys * p.key_heads * p.size &&
              v.size() == p.batch * p.keys * p.key_heads * p.value_size,
          "query, key and value must have the same batch");
  Require(p.heads == 0 || (p.key_heads > 0 && p.heads % p.key_heads == 0),
          "the heads of the query must be a multiple of those of the key");
  p.q = q.floats(), p.k = k.floats(), p.v = v.floats();
  p.before = call.integer("before"), p.after = call.integer("after");
  p.scale = call.number("scale");
  if (mask.size() == 0) return p;
  p.mask = mask.flags(), p.mask_heads = mask.dim(-3);
  const int64_t sets = mask.size() / (p.mask_heads * p.queries * p.keys);
  Require(mask.dim(-1) == p.keys && mask.dim(-2) == p.queries &&
              (p.mask_heads == 1 || p.mask_heads == p.heads) && p.batch % sets == 0,
          "the mask does not fit the scores");
  p.mask_each = p.batch / sets;
  return p;
}

void Forward(Call& call) {
  const Problem p = ProblemOf(call);
  float *out = call.out(0).floats(), *peaks = call.out(1).floats(), *totals = call.out(2).floats();
  const int64_t width = p.value_padded(), blocks = p.key_blocks();
  // Keys turned and values padded, block by block.
  const int64_t keys_size = p.size * kKeys, values_size = kKeys * width;
  const int64_t head_size = blocks * (keys_size + values_size);
  Scratch packed(p.batch * p.key_heads * head_size);
  call.Parallel(p.batch * p.key_heads, [&](int64_t job) {
    const int64_t b = job / p.key_heads, m = job % p.key_heads;
    float* to = packed.get() + job * head_size;
    for (int64_t key = 0; key < p.keys; key += kKeys, to += keys_size + values_size) {
      const int64_t count = std::min(kKeys, p.keys - key);
      CopyTurned(p.key_at(b, key, m), p.key_row(), count, p.size, to, kKeys, p.size);
      CopyPadded(p.value_at(b, key, m), p.value_row(), count, p.value_size, to + keys_size, kKeys,
                 width);
    }
  });
  const int64_t tasks = p.batch * p.heads * p.query_blocks();
  const int64_t parts = std::min(call.threads(), std::max<int64_t>(tasks, 1));
  const int64_t each = kQueries * (kKeys + width + 2);
  Scratch scratch(parts * each);
  call.Tasks(tasks, parts, [&](int64_t part, int64_t task) {
    // The longest rows of a triangle first, so that threads end together.
    const int64_t block = p.query_blocks() - 1 - task / (p.batch * p.heads);
    const int64_t b = task % (p.batch * p.heads) / p.heads, n = task % p.heads;
    const int64_t first = block * kQueries, rows = std::min(kQueries, p.queries - first);
    const int64_t m = n / (p.heads / p.key_heads);
    float *scores = scratch.get() + part * each, *sums = scores + kQueries * kKeys;
    float *peak = sums + kQueries * width, *total = peak + kQueries;
    std::memset(sums, 0, rows * width * sizeof(float));
    for (int64_t r = 0; r < rows; ++r) peak[r] = kHidden, total[r] = 0;
    const Left q{p.query_at(b, first, n), p.query_row(), 1};
    const float* at = packed.get() + (b * p.key_heads + m) * head_size;
    for (int64_t key = 0; key < p.keys; key += kKeys, at += keys_size + values_size) {
      if (!p.Meet(first, rows, key)) continue;
      Multiply(rows, kKeys, p.size, q, at, kKeys, scores, kKeys, false);
      for (int64_t r = 0; r < rows; ++r) {
        p.Score(scores + r * kKeys, b, n, first + r, key);
        const float factor = Exponentials(scores + r * kKeys, kKeys, peak + r, total + r);
        if (factor != 1.0f) {
          for (int64_t d = 0; d < width; ++d) sums[r * width + d] *= factor;
        }
      }
      Multiply(rows, width, kKeys, {scores, kKeys, 1}, at + keys_size, width, sums, width, true);
    }
    for (int64_t r = 0; r < rows; ++r) {
      const float share = total[r] == 0 ? 1.0f : 1.0f / total[r];
      float* to = out + p.out_at(b, first + r, n);
      for (int64_t d = 0; d < p.value_size; ++d) to[d] = sums[r * width + d] * share;
      const int64_t place = (b * p.heads + n) * p.queries + first + r;
      peaks[place] = p.keys == 0 ? 0 : peak[r];
      totals[place] = total[r];
    }
  });
}

// What one thread needs for the gradient.
struct Buffers {
  float *turned_keys, *keys, *turned_values, *query, *d_out, *scores, *d_scores, *dq, *dk, *dv;

  static int64_t Size(const Problem& p) {
    const int64_t w = p.padded(), u = p.value_padded();
    return kKeys * (p.size + w + p.value_size + w + u) + kQueries * (w + u + 2 * kKeys + w);
  }
  Buffers(const Problem& p, float* at) {
    const int64_t w = p.padded(), u = p.value_padded();
    auto take = [&at](int64_t count) { return (at += count) - count; };
    turned_keys = take(kKeys * p.size), keys = take(kKeys * w);
    turned_values = take(kKeys * p.value_size), query = take(kQueries * w);
    d_out = take(kQueries * u), scores = take(kQueries * kKeys), d_scores = take(kQueries * kKeys);
    dq = take(kQueries * w), dk = take(kKeys * w), dv = take(kKeys * u);
  }
};

// The gradient for a block of queries of head n and a block of keys; adds to dq, dk and dv.
void Pull(const Problem& p, const Buffers& s, int64_t b, int64_t n, int64_t first, int64_t key,
          const float* d_out, const float* peaks, const float* totals, const float* deltas,
          float* dq) {
  const int64_t rows = std::min(kQueries, p.queries - first), w = p.padded();
  const int64_t u = p.value_padded();
  CopyPadded(p.query_at(b, first, n), p.query_row(), rows, p.size, s.query, rows, w);
  CopyPadded(d_out + p.out_at(b, first, n), p.out_row(), rows, p.value_size, s.d_out, rows, u);
  Multiply(rows, kKeys, p.size, {s.query, w, 1}, s.turned_keys, kKeys, s.scores, kKeys, false);
  Multiply(rows, kKeys, p.value_size, {s.d_out, u, 1}, s.turned_values, kKeys, s.d_scores, kKeys,
           false);
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t place = (b * p.heads + n) * p.queries + first + r;
    float *row = s.scores + r * kKeys, *d_row = s.d_scores + r * kKeys;
    p.Score(row, b, n, first + r, key);
    const float base = std::isfinite(peaks[place]) ? peaks[place] : 0.0f;
    const float share = totals[place] == 0 ? 1.0f : 1.0f / totals[place];
    const float delta = deltas[place];
#pragma GCC ivdep
    for (int64_t j = 0; j < kKeys; ++j) {
      row[j] = Exp(row[j] - base) * share;
      d_row[j] = row[j] * (d_row[j] - delta) * p.scale;
    }
  }
  const Left weights{s.scores, 1, kKeys}, turned{s.d_scores, 1, kKeys};
  Multiply(kKeys, u, rows, weights, s.d_out, u, s.dv, u, true);
  Multiply(kKeys, w, rows, turned, s.query, w, s.dk, w, true);
  Multiply(rows, w, kKeys, {s.d_scores, kKeys, 1}, s.keys, w, s.dq, w, false);
  for (int64_t r = 0; r < rows; ++r) {
    float* to = dq + (p.query_at(b, first + r, n) - p.q);
    for (int64_t d = 0; d < p.size; ++d) to[d] += s.dq[r * w + d];
  }
}

void Backward(Call& call) {
  const Problem p = ProblemOf(call);
  const float *out = call.arg(4).floats(), *peaks = call.arg(5).floats();
  const float *totals = call.arg(6).floats(), *d_out = call.arg(7).floats();
  float *dq = call.out(0).floats(), *dk = call.out(1).floats(), *dv = call.out(2).floats();
  std::memset(dq, 0, call.out(0).size() * sizeof(float));
  Scratch deltas(p.batch * p.heads * p.queries);
  call.Parallel(p.batch * p.heads, [&](int64_t job) {
    for (int64_t i = 0; i < p.queries; ++i) {
      const int64_t at = p.out_at(job / p.heads, i, job % p.heads);
      float sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int64_t d = 0; d < p.value_size; ++d) sum += out[at + d] * d_out[at + d];
      deltas.get()[job * p.queries + i] = sum;
    }
  });
  const int64_t tasks = p.batch * p.key_heads, w = p.padded(), u = p.value_padded();
  const int64_t parts = std::min(call.threads(), std::max<int64_t>(tasks, 1));
  const int64_t each = Padded(Buffers::Size(p), 16);
  Scratch scratch(parts * each);
  call.Tasks(tasks, parts, [&](int64_t part, int64_t task) {
    const Buffers s(p, scratch.get() + part * each);
    const int64_t b = task / p.key_heads, m = task % p.key_heads, group = p.heads / p.key_heads;
    for (int64_t key = 0; key < p.keys; key += kKeys) {
      const int64_t count = std::min(kKeys, p.keys - key);
      CopyTurned(p.key_at(b, key, m), p.key_row(), count, p.size, s.turned_keys, kKeys, p.size);
      CopyPadded(p.key_at(b, key, m), p.key_row(), count, p.size, s.keys, kKeys, w);
      CopyTurned(p.value_at(b, key, m), p.value_row(), count, p.value_size, s.turned_values, kKeys,
                 p.value_size);
      std::memset(s.dk, 0, kKeys * w * sizeof(float));
      std::memset(s.dv, 0, kKeys * u * sizeof(float));
      for (int64_t n = m * group; n < (m + 1) * group; ++n) {
        for (int64_t first = 0; first < p.queries; first += kQueries) {
          if (!p.Meet(first, std::min(kQueries, p.queries - first), key)) continue;
          Pull(p, s, b, n, first, key, d_out, peaks, totals, deltas.get(), dq);
        }
      }
      for (int64_t j = 0; j < count; ++j) {
        float* to = dk + (p.key_at(b, key + j, m) - p.k);
        for (int64_t d = 0; d < p.size; ++d) to[d] = s.dk[j * w + d];
        to = dv + (p.value_at(b, key + j, m) - p.v);
        for (int64_t d = 0; d < p.value_size; ++d) to[d] = s.dv[j * u + d];
      }
    }
  });
}

}  // namespace
}  // namespace kernels

KERNEL(flash_attention, kernels::Forward)
KERNEL(flash_attention_grad, kernels::Backward)
