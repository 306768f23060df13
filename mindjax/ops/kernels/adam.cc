// Adam in one pass: a variable and its moments are read and written once, with the gradient.
//
// XLA's CPU backend makes three loops of it, one a result, which read ten arrays where this reads
// four and writes three.

#include <algorithm>
#include <atomic>
#include <cmath>
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

struct Step {
  const float *gradient, *old_variable, *old_mean, *old_square;
  float *variable, *mean, *square;
  float mean_share, square_share, rate, epsilon, keep, scale;
};

FOR_EACH_PROCESSOR
void Update(const Step& step, int64_t begin, int64_t end) {
  const float* g = step.gradient;
  const float *p = step.old_variable, *m = step.old_mean, *v = step.old_square;
  float *p_out = step.variable, *m_out = step.mean, *v_out = step.square;
  const float mean_share = step.mean_share, square_share = step.square_share;
  const float rate = step.rate, epsilon = step.epsilon, keep = step.keep, scale = step.scale;
  // A result may be its own operand, but no other's.
#pragma GCC ivdep
  for (int64_t i = begin; i < end; ++i) {
    const float mean = m[i] + (g[i] - m[i]) * mean_share;
    const float square = v[i] + (g[i] * g[i] - v[i]) * square_share;
    m_out[i] = mean;
    v_out[i] = square;
    p_out[i] = p[i] * keep - rate * mean / (std::sqrt(square) * scale + epsilon);
  }
}

constexpr int64_t kBlock = 1 << 16;

// The blocks of a step, taken by whichever threads come. One that comes late finds none left, and
// touches nothing.
struct Work {
  Step step;
  int64_t size, blocks;
  std::atomic<int64_t> next{0}, done{0};
  std::mutex mutex;
  std::condition_variable finished;

  void Take() {
    for (int64_t block; (block = next.fetch_add(1)) < blocks;) {
      Update(step, block * kBlock, std::min(size, (block + 1) * kBlock));
      if (done.fetch_add(1) + 1 == blocks) {
        std::lock_guard<std::mutex> lock(mutex);
        finished.notify_all();
      }
    }
  }

  void Finish() {
    Take();
    std::unique_lock<std::mutex> lock(mutex);
    finished.wait(lock, [this] { return done.load() == blocks; });
  }
};

using Array = ffi::Buffer<ffi::F32>;
using Result = ffi::ResultBuffer<ffi::F32>;

ffi::Error Run(ffi::ThreadPool threads, Array variable, Array mean, Array square, Array gradient,
               Array numbers, Result new_variable, Result new_mean, Result new_square) {
  const float* n = numbers.typed_data();
  auto work = std::make_shared<Work>();
  work->step = {gradient.typed_data(),      variable.typed_data(), mean.typed_data(),
                square.typed_data(),        new_variable->typed_data(),
                new_mean->typed_data(),     new_square->typed_data(),
                n[0], n[1], n[2], n[3], n[4], n[5]};
  work->size = static_cast<int64_t>(variable.element_count());
  work->blocks = (work->size + kBlock - 1) / kBlock;
  const int64_t others = std::min<int64_t>(threads.num_threads(), work->blocks) - 1;
  for (int64_t i = 0; i < others; ++i) threads.Schedule([work] { work->Take(); });
  work->Finish();
  return ffi::Error::Success();
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(mindjax_adam, Run,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<Array>()
                                  .Arg<Array>()
                                  .Arg<Array>()
                                  .Arg<Array>()
                                  .Arg<Array>()
                                  .Ret<Array>()
                                  .Ret<Array>()
                                  .Ret<Array>());
