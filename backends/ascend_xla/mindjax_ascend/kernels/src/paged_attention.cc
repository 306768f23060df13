// Attention of one new token a sequence over a cache in blocks, and the writing of new tokens into
// the cache. The cache is (blocks, block size, heads, D).

#include "call.h"
#include "numeric.h"

namespace kernels {
namespace {

constexpr int64_t kKeys = 64;

float Dot(const float* a, const float* b, int64_t count) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t j = 0; j < count; ++j) sum += a[j] * b[j];
  return sum;
}

void PagedAttention(Call& call) {
  const Array query = call.arg(0), keys = call.arg(1), values = call.arg(2);
  const int64_t batch = query.dim(0), heads = query.dim(1), size = query.dim(2);
  const int64_t stored = keys.dim(0), block = keys.dim(1), key_heads = keys.dim(2);
  const int64_t value_size = values.dim(3), table_row = call.arg(3).dim(1);
  Require(keys.dim(3) == size && key_heads > 0 && heads % key_heads == 0 &&
              values.size() == stored * block * key_heads * value_size,
          "query and cache do not fit");
  Require(call.arg(3).dim(0) == batch && call.arg(4).size() == batch,
          "tables and lengths must have a row for each sequence");
  const float *q = query.floats(), *k = keys.floats(), *v = values.floats();
  const int32_t *tables = call.arg(3).ints(), *lengths = call.arg(4).ints();
  float* out = call.out(0).floats();
  const float scale = call.number("scale");
  const int64_t group = heads / key_heads, tasks = batch * key_heads;
  const int64_t parts = std::min(call.threads(), std::max<int64_t>(tasks, 1));
  const int64_t each = group * (kKeys + 2);
  Scratch scratch(parts * each);
  call.Tasks(tasks, parts, [&](int64_t part, int64_t task) {
    const int64_t b = task / key_heads, m = task % key_heads;
    const int64_t count = std::min<int64_t>(lengths[b], table_row * block);
    float *scores = scratch.get() + part * each, *peak = scores + group * kKeys;
    float* total = peak + group;
    const float* from = q + (b * heads + m * group) * size;
    float* to = out + (b * heads + m * group) * value_size;
    std::memset(to, 0, group * value_size * sizeof(float));
    for (int64_t g = 0; g < group; ++g) {
      peak[g] = -std::numeric_limits<float>::infinity(), total[g] = 0;
    }
    auto row_of = [&](int64_t i) {
      const int64_t where = std::min<int64_t>(std::max(tables[b * table_row + i / block], 0),
                                              stored - 1);
      return (where * block + i % block) * key_heads + m;
    };
    for (int64_t first = 0; first < count; first += kKeys) {
      const int64_t some = std::min(kKeys, count - first);
      for (int64_t j = 0; j < some; ++j) {
        const float* key = k + row_of(first + j) * size;
        for (int64_t g = 0; g < group; ++g) {
          scores[g * kKeys + j] = Dot(from + g * size, key, size) * scale;
        }
      }
      for (int64_t g = 0; g < group; ++g) {
        const float factor = Exponentials(scores + g * kKeys, some, peak + g, total + g);
        if (factor == 1.0f) continue;
        for (int64_t d = 0; d < value_size; ++d) to[g * value_size + d] *= factor;
      }
      for (int64_t j = 0; j < some; ++j) {
        const float* value = v + row_of(first + j) * value_size;
        for (int64_t g = 0; g < group; ++g) {
          const float weight = scores[g * kKeys + j];
          float* sums = to + g * value_size;
#pragma GCC ivdep
          for (int64_t d = 0; d < value_size; ++d) sums[d] += weight * value[d];
        }
      }
    }
    for (int64_t g = 0; g < group; ++g) {
      const float share = total[g] == 0 ? 1.0f : 1.0f / total[g];
      for (int64_t d = 0; d < value_size; ++d) to[g * value_size + d] *= share;
    }
  });
}

// The result is the cache with rows of `bytes` bytes replaced; a slot outside it is passed over.
void ReshapeAndCache(Call& call) {
  const int64_t bytes = call.integer("bytes"), slots = call.integer("slots");
  const int64_t count = call.arg(2).size();
  const char *cache = call.arg(0).raw(), *tokens = call.arg(1).raw();
  const int32_t* places = call.arg(2).ints();
  char* out = call.out(0).raw();
  if (out != cache) std::memcpy(out, cache, slots * bytes);
  for (int64_t i = 0; i < count; ++i) {
    if (places[i] < 0 || places[i] >= slots) continue;
    std::memcpy(out + places[i] * bytes, tokens + i * bytes, bytes);
  }
}

}  // namespace
}  // namespace kernels

KERNEL(paged_attention, kernels::PagedAttention)
KERNEL(reshape_and_cache, kernels::ReshapeAndCache)
