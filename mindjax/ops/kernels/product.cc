// Products of matrices for processors with vectors of 8 floats and no wider ones.
//
// The right operand is packed into panels of 16 columns by all threads, then blocks of rows of the
// result are taken in turn. Of a batch of small products each is one thread's. Operands may be
// transposed: they are packed from where they lie.

#include <sched.h>
#include <stdlib.h>

#include "call.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#pragma GCC push_options
#pragma GCC target("avx2,fma")

namespace {

constexpr int64_t kRows = 6, kColumns = 16;  // of a tile, 12 of the 16 registers
constexpr int64_t kDepth = 320;              // a panel of this depth stays in the first cache
constexpr int64_t kBlockRows = 120;          // rows of a block stay in the second cache
constexpr int64_t kPacked = 1 << 22;         // elements of the right operand packed at a time
constexpr int64_t kPackedAlone = 1 << 18;    // the same for one product of a batch

constexpr int64_t kTogether = 4;             // panels that are packed together

inline int64_t Over(int64_t count, int64_t each) { return (count + each - 1) / each; }
inline int64_t Least(int64_t a, int64_t b) { return a < b ? a : b; }
inline int64_t Most(int64_t a, int64_t b) { return a < b ? b : a; }

// A matrix whose element (i, j) stands at data[i * row + j * column]; one of the two is 1.
struct Matrix {
  const float* data;
  int64_t row, column;
};

// Turns 8 rows of 8 floats.
inline void Turn(__m256 (&v)[8]) {
  __m256 a[8], b[8];
  for (int i = 0; i < 4; ++i) {
    a[2 * i] = _mm256_unpacklo_ps(v[2 * i], v[2 * i + 1]);
    a[2 * i + 1] = _mm256_unpackhi_ps(v[2 * i], v[2 * i + 1]);
  }
  for (int i = 0; i < 2; ++i) {
    b[4 * i] = _mm256_shuffle_ps(a[4 * i], a[4 * i + 2], 0x44);
    b[4 * i + 1] = _mm256_shuffle_ps(a[4 * i], a[4 * i + 2], 0xee);
    b[4 * i + 2] = _mm256_shuffle_ps(a[4 * i + 1], a[4 * i + 3], 0x44);
    b[4 * i + 3] = _mm256_shuffle_ps(a[4 * i + 1], a[4 * i + 3], 0xee);
  }
  for (int i = 0; i < 4; ++i) {
    v[i] = _mm256_permute2f128_ps(b[i], b[i + 4], 0x20);
    v[i + 4] = _mm256_permute2f128_ps(b[i], b[i + 4], 0x31);
  }
}

// Packs lines of elements, element k of line i at from[i * line + k * step], Width lines at a time:
// group g stands at to + g * Width * depth, in it element k of line i at [k * Width + i]. Lines
// that fill up the last group are zeros. `to` has room for 8 more at its end.
template <int64_t Width>
inline void Pack(const float* from, int64_t line, int64_t step, int64_t lines, int64_t depth,
                 float* to) {
  constexpr int64_t kAtOnce = 8, kAhead = 32;
  const int64_t whole = lines / Width * Width;
  auto one = [&](int64_t first, int64_t k) {
    for (int64_t i = 0; i < Width; ++i) {
      to[first * depth + k * Width + i] =
          first + i < lines ? from[(first + i) * line + k * step] : 0.0f;
    }
  };
  // In both orders a vector may write beyond its elements what is written again afterwards.
  if (step == 1) {
    for (int64_t first = 0; first < whole; first += Width) {
      const float* source = from + first * line;
      float* group = to + first * depth;
      int64_t k = 0;
      for (; k + kAtOnce <= depth; k += kAtOnce) {
#pragma GCC unroll 2
        for (int64_t half = 0; half < Width; half += 8) {
          __m256 v[8];
#pragma GCC unroll 8
          for (int64_t i = 0; i < 8; ++i) {
            v[i] = half + i < Width ? _mm256_loadu_ps(source + (half + i) * line + k)
                                    : _mm256_setzero_ps();
          }
          Turn(v);
#pragma GCC unroll 8
          for (int64_t i = 0; i < 8; ++i) {
            _mm256_storeu_ps(group + (k + i) * Width + half, v[i]);
          }
        }
      }
      for (; k < depth; ++k) one(first, k);
    }
  } else {
    for (int64_t k = 0; k < depth; k += kAtOnce) {
      const int64_t count = Least(kAtOnce, depth - k);
      for (int64_t first = 0; first < whole; first += Width) {
        const float* source = from + first * line + k * step;
        float* group = to + first * depth + k * Width;
        for (int64_t i = 0; i < count; ++i) {
          // The last would write to the next group, and read beyond the matrix.
          if (k + i + 1 == depth) {
            one(first, k + i);
            continue;
          }
#pragma GCC unroll 2
          for (int64_t half = 0; half < Width; half += 8) {
            _mm256_storeu_ps(group + i * Width + half, _mm256_loadu_ps(source + i * step + half));
            // No prefetching of the processor's own follows such steps.
            _mm_prefetch(reinterpret_cast<const char*>(source + (i + kAhead) * step + half),
                         _MM_HINT_T0);
          }
        }
      }
    }
  }
  if (whole < lines) {
    for (int64_t k = 0; k < depth; ++k) one(whole, k);
  }
}

// A tile of the result: left packed by kRows, right by kColumns.
inline __attribute__((always_inline)) void Tile(int64_t depth, const float* left,
                                                const float* right, float* out, int64_t out_row,
                                                bool add) {
  __m256 sum[kRows][2];
#pragma GCC unroll 6
  for (int64_t i = 0; i < kRows; ++i) {
    sum[i][0] = sum[i][1] = _mm256_setzero_ps();
    _mm_prefetch(reinterpret_cast<const char*>(out + i * out_row), _MM_HINT_T0);
    _mm_prefetch(reinterpret_cast<const char*>(out + i * out_row + 15), _MM_HINT_T0);
  }
#pragma GCC unroll 4
  for (int64_t k = 0; k < depth; ++k) {
    const __m256 low = _mm256_load_ps(right), high = _mm256_load_ps(right + 8);
#pragma GCC unroll 6
    for (int64_t i = 0; i < kRows; ++i) {
      const __m256 x = _mm256_broadcast_ss(left + i);
      sum[i][0] = _mm256_fmadd_ps(x, low, sum[i][0]);
      sum[i][1] = _mm256_fmadd_ps(x, high, sum[i][1]);
    }
    left += kRows;
    right += kColumns;
  }
#pragma GCC unroll 6
  for (int64_t i = 0; i < kRows; ++i) {
    float* row = out + i * out_row;
    if (add) {
      sum[i][0] = _mm256_add_ps(sum[i][0], _mm256_loadu_ps(row));
      sum[i][1] = _mm256_add_ps(sum[i][1], _mm256_loadu_ps(row + 8));
    }
    _mm256_storeu_ps(row, sum[i][0]);
    _mm256_storeu_ps(row + 8, sum[i][1]);
  }
}

// One product (rows, depth) times (depth, columns).
struct Product {
  Matrix left, right;
  float* out;
  int64_t rows, columns, depth, out_row;

  int64_t panels() const { return Over(columns, kColumns); }
  int64_t slices() const { return Most(1, Over(depth, kDepth)); }
  // Slice s holds the depths from Slice(s) to Slice(s + 1).
  int64_t Slice(int64_t s) const { return Least(depth, s * Over(depth, slices())); }
  int64_t packed_size() const { return panels() * kColumns * depth; }
  // Where the part of a panel in a slice stands packed.
  int64_t PackedAt(int64_t slice, int64_t panel) const {
    const int64_t begin = Slice(slice), count = Slice(slice + 1) - begin;
    return (begin * panels() + panel * count) * kColumns;
  }

  void PackPanels(int64_t panel, int64_t number, float* packed) const {
    const int64_t first = panel * kColumns, count = Least(number * kColumns, columns - first);
    for (int64_t s = 0; s < slices(); ++s) {
      const int64_t begin = Slice(s), deep = Slice(s + 1) - begin;
      Pack<kColumns>(right.data + begin * right.row + first * right.column, right.column,
                     right.row, count, deep, packed + PackedAt(s, panel));
    }
  }

  // Rows from `begin` to `end` of the panels from `first` to `last`; `block` has room for
  // kBlockRows x kDepth floats and 8 more.
  void Rows(int64_t begin, int64_t end, int64_t first, int64_t last, const float* packed,
            float* block) const {
    for (int64_t s = 0; s < slices(); ++s) {
      const int64_t from = Slice(s), deep = Slice(s + 1) - from;
      Pack<kRows>(left.data + begin * left.row + from * left.column, left.row, left.column,
                  end - begin, deep, block);
      for (int64_t p = first; p < last; ++p) {
        const float* panel = packed + PackedAt(s, p);
        const int64_t at = p * kColumns, wide = Least(kColumns, columns - at);
        for (int64_t i = begin; i < end; i += kRows) {
          const int64_t high = Least(kRows, end - i);
          float* to = out + i * out_row + at;
          const float* rows_packed = block + (i - begin) * deep;
          if (high == kRows && wide == kColumns) {
            Tile(deep, rows_packed, panel, to, out_row, s > 0);
            continue;
          }
          float edge[kRows * kColumns];
          Tile(deep, rows_packed, panel, edge, kColumns, false);
          for (int64_t r = 0; r < high; ++r) {
            for (int64_t c = 0; c < wide; ++c) {
              const float sum = edge[r * kColumns + c];
              to[r * out_row + c] = s > 0 ? to[r * out_row + c] + sum : sum;
            }
          }
        }
      }
    }
  }
};

constexpr int64_t kMostThreads = 64;
constexpr int64_t kBlockSize = (kBlockRows + kRows) * kDepth + 16;  // of a thread, packed rows

// The lowest of a thread's shares of memory that no other thread has, one bit each.
struct Slot {
  std::atomic<uint64_t>& taken;
  int number;

  explicit Slot(std::atomic<uint64_t>& all) : taken(all) {
    uint64_t now = taken.load(std::memory_order_relaxed);
    do {
      number = __builtin_ctzll(~now);
    } while (!taken.compare_exchange_weak(now, now | uint64_t{1} << number,
                                          std::memory_order_acquire));
  }
  ~Slot() { taken.fetch_and(~(uint64_t{1} << number), std::memory_order_release); }
};

// Parts that threads take in turn: first those that pack, then those that compute, which wait until
// all is packed.
struct Work {
  Product product;
  float *packed, *blocks;
  int64_t packing, computing, block_rows, groups;
  mutable std::atomic<uint64_t> taken{0};  // blocks
  mutable std::atomic<int64_t> ready{0};

  void Run(int64_t part) const {
    if (part < packing) {
      product.PackPanels(part * kTogether, kTogether, packed);
      ready.fetch_add(1, std::memory_order_release);
      return;
    }
    for (int spins = 0; ready.load(std::memory_order_acquire) < packing; ++spins) {
      if (spins < 1000) {
        _mm_pause();
      } else {
        sched_yield();
      }
    }
    const Slot slot(taken);
    const int64_t task = part - packing, group = task % groups, at = task / groups * block_rows;
    product.Rows(at, Least(product.rows, at + block_rows), product.panels() * group / groups,
                 product.panels() * (group + 1) / groups, packed, blocks + slot.number * kBlockSize);
  }
};

// Products of a batch, each packed and computed by the thread that takes it.
struct Batch {
  Product first;
  int64_t left_step, right_step, out_step;
  float* memory;
  int64_t share;  // of a thread
  mutable std::atomic<uint64_t> taken{0};

  Product at(int64_t number) const {
    Product p = first;
    p.left.data += number * left_step;
    p.right.data += number * right_step;
    p.out += number * out_step;
    return p;
  }

  void Run(int64_t number) const {
    const Slot slot(taken);
    const Product p = at(number);
    float* block = memory + slot.number * share;
    float* packed = block + kBlockSize;
    p.PackPanels(0, p.panels(), packed);
    for (int64_t row = 0; row < p.rows; row += kBlockRows)
      p.Rows(row, Least(p.rows, row + kBlockRows), 0, p.panels(), packed, block);
  }
};

float* Memory(int64_t floats) {
  return static_cast<float*>(aligned_alloc(64, Over(floats * 4 + 64, 64) * 64));
}

int64_t ThreadsOf(const XLA_FFI_CallFrame* frame) {
  // The caller works beside the threads of the pool.
  return Least(Most(1, kernels::Threads(frame)), kMostThreads);
}

bool Multiply(const XLA_FFI_CallFrame* frame, const Product& whole) {
  const int64_t threads = ThreadsOf(frame);
  const int64_t strip = Most(1, kPacked / Most(1, whole.depth) / kColumns) * kColumns;
  const int64_t size = Least(strip, whole.panels() * kColumns) * whole.depth + 64 +
                       threads * kBlockSize;
  float* memory = Memory(size);
  if (memory == nullptr) return false;
  for (int64_t first = 0; first < whole.columns; first += strip) {
    Work work;
    Product& p = work.product = whole;
    p.columns = Least(strip, whole.columns - first);
    p.right.data += first * p.right.column;
    p.out += first;
    work.packed = memory;
    work.blocks = memory + Over(p.packed_size() + 16, 16) * 16;
    // Blocks of equal height, some for each thread, so that threads end together.
    const int64_t tiles = Over(p.rows, kRows);
    const int64_t count = Over(Over(tiles, kBlockRows / kRows), threads) * threads;
    work.block_rows = Over(tiles, count) * kRows;
    const int64_t blocks = Over(p.rows, work.block_rows);
    work.groups = Least(p.panels(), Most(1, Over(2 * threads, blocks)));
    if (threads == 1) work.groups = 1;
    work.packing = Over(p.panels(), kTogether);
    work.computing = blocks * work.groups;
    kernels::Parallel(frame, work, work.packing + work.computing, threads);
  }
  free(memory);
  return true;
}

bool MultiplyEach(const XLA_FFI_CallFrame* frame, Batch& batch, int64_t count) {
  const Product& p = batch.first;
  const int64_t threads = ThreadsOf(frame);
  // All threads share a large product, and one of a few.
  if (count < threads || p.packed_size() > kPackedAlone) {
    for (int64_t i = 0; i < count; ++i)
      if (!Multiply(frame, batch.at(i))) return false;
    return true;
  }
  batch.share = kBlockSize + Over(p.packed_size() + 16, 16) * 16;
  batch.memory = Memory(threads * batch.share);
  if (batch.memory == nullptr) return false;
  kernels::Parallel(frame, batch, count, threads);
  free(batch.memory);
  return true;
}

Matrix Of(const float* data, int64_t stored_columns, bool turned) {
  return turned ? Matrix{data, 1, stored_columns} : Matrix{data, stored_columns, 1};
}

const char* Run(const XLA_FFI_CallFrame* frame) {
  const char* wrong = "product takes two Float32 arrays of matrices that fit together, and gives one";
  if (!kernels::AllFloats(frame, 2, 1)) return wrong;
  const XLA_FFI_Buffer &a = kernels::Argument(frame, 0), &b = kernels::Argument(frame, 1);
  const XLA_FFI_Buffer& c = kernels::Result(frame, 0);
  const int64_t batched = a.rank - 2;
  if (batched < 0 || batched > 1 || b.rank != a.rank || c.rank != a.rank) return wrong;
  const int64_t count = batched ? c.dims[0] : 1;
  if (batched && (a.dims[0] != count || b.dims[0] != count)) return wrong;
  const int64_t *in = a.dims + batched, *by = b.dims + batched, *out = c.dims + batched;
  const bool left = kernels::Number(frame, "left_turned") != 0;
  const bool right = kernels::Number(frame, "right_turned") != 0;
  Batch batch{};
  Product& p = batch.first;
  p.left = Of(kernels::Floats(a), in[1], left);
  p.right = Of(kernels::Floats(b), by[1], right);
  p.out = kernels::Floats(c);
  p.rows = out[0], p.columns = out[1], p.out_row = out[1];
  p.depth = in[left ? 0 : 1];
  if (in[left] != p.rows || by[right] != p.depth || by[!right] != p.columns) return wrong;
  batch.left_step = in[0] * in[1], batch.right_step = by[0] * by[1];
  batch.out_step = p.rows * p.columns;
  if (count * batch.out_step == 0) return nullptr;
  if (p.depth == 0) {
    memset(p.out, 0, count * batch.out_step * sizeof(float));
    return nullptr;
  }
  return MultiplyEach(frame, batch, count) ? nullptr
                                           : "out of memory for the operands of a product";
}

}  // namespace

#pragma GCC pop_options

extern "C" int mindjax_product_fits() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         !__builtin_cpu_supports("avx512f");
}

#else

namespace {

const char* Run(const XLA_FFI_CallFrame*) { return "no product for this processor"; }

}  // namespace

extern "C" int mindjax_product_fits() { return 0; }

#endif

KERNEL(product, Run)
