// Transposes matrices by blocks that fit the first cache.
//
// XLA's CPU backend reads a matrix along its columns, one element of each cache line at a time.

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

namespace {

// A copy for each kind of processor, chosen when the library is loaded.
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__)
#define FOR_EACH_PROCESSOR \
  __attribute__((target_clones("default", "arch=haswell", "arch=skylake-avx512")))
#else
#define FOR_EACH_PROCESSOR
#endif

constexpr int64_t kBlock = 16;

// The columns from `begin` to `end`, of which `begin` is a multiple of kBlock.
FOR_EACH_PROCESSOR
void Transpose(const float* in, float* out, int64_t rows, int64_t columns, int64_t begin,
               int64_t end) {
  const int64_t whole_rows = rows / kBlock * kBlock, whole_end = end / kBlock * kBlock;
  for (int64_t c = begin; c < whole_end; c += kBlock) {
    for (int64_t r = 0; r < whole_rows; r += kBlock) {
      float block[kBlock][kBlock];
      for (int64_t i = 0; i < kBlock; ++i)
        for (int64_t j = 0; j < kBlock; ++j) block[i][j] = in[(r + i) * columns + c + j];
      for (int64_t j = 0; j < kBlock; ++j)
        for (int64_t i = 0; i < kBlock; ++i) out[(c + j) * rows + r + i] = block[i][j];
    }
  }
  for (int64_t c = begin; c < end; ++c)
    for (int64_t r = c < whole_end ? whole_rows : 0; r < rows; ++r)
      out[c * rows + r] = in[r * columns + c];
}

// Elements that are worth a thread of their own.
constexpr int64_t kShare = 1 << 17;

// The strips of a matrix, taken by whichever threads come. One that comes late finds none left, and
// touches nothing.
struct Work {
  const float* in;
  float* out;
  int64_t rows, columns, width, strips;
  std::atomic<int64_t> next{0}, done{0};
  std::mutex mutex;
  std::condition_variable finished;

  void Take() {
    for (int64_t strip; (strip = next.fetch_add(1)) < strips;) {
      Transpose(in, out, rows, columns, strip * width, std::min(columns, (strip + 1) * width));
      if (done.fetch_add(1) + 1 == strips) {
        std::lock_guard<std::mutex> lock(mutex);
        finished.notify_all();
      }
    }
  }

  void Finish() {
    Take();
    std::unique_lock<std::mutex> lock(mutex);
    finished.wait(lock, [this] { return done.load() == strips; });
  }
};

ffi::Error Run(ffi::ThreadPool threads, ffi::Buffer<ffi::F32> in,
               ffi::ResultBuffer<ffi::F32> out) {
  const auto shape = in.dimensions();
  const int64_t rows = shape[0], columns = shape[1];
  if (rows == 0 || columns == 0) return ffi::Error::Success();
  const int64_t width = std::max<int64_t>(1, kShare / rows / kBlock) * kBlock;
  const int64_t strips = (columns + width - 1) / width;
  const int64_t others = std::min<int64_t>(threads.num_threads(), strips) - 1;
  if (others < 1) {
    Transpose(in.typed_data(), out->typed_data(), rows, columns, 0, columns);
    return ffi::Error::Success();
  }
  auto work = std::make_shared<Work>();
  work->in = in.typed_data();
  work->out = out->typed_data();
  work->rows = rows;
  work->columns = columns;
  work->width = width;
  work->strips = strips;
  for (int64_t i = 0; i < others; ++i) threads.Schedule([work] { work->Take(); });
  work->Finish();
  return ffi::Error::Success();
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(mindjax_transposed, Run,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::Buffer<ffi::F32>>()
                                  .Ret<ffi::Buffer<ffi::F32>>());
