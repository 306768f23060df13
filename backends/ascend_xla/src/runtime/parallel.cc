#include "parallel.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace ascend {
namespace {

class Pool {
 public:
  Pool() {
    const unsigned cores = std::min(16u, std::max(1u, std::thread::hardware_concurrency()));
    for (unsigned i = 1; i < cores; i++) threads_.emplace_back([this] { Loop(); });
  }
  ~Pool() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stop_ = true;
      changed_.notify_all();
    }
    for (auto& thread : threads_) thread.join();
  }
  int64_t width() const { return static_cast<int64_t>(threads_.size()) + 1; }
  // A kernel within a kernel finds the threads in use, by its own caller.
  bool Try() { return !used_.test_and_set(std::memory_order_acquire); }
  void Leave() { used_.clear(std::memory_order_release); }

  void Run(int64_t parts, const std::function<void(int64_t)>& part) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      part_ = &part;
      parts_ = parts;
      next_ = 0;
      left_ = parts;
      round_++;
      changed_.notify_all();
    }
    Work(part, parts);
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [this] { return left_ == 0 && inside_ == 0; });
    part_ = nullptr;
  }

 private:
  void Work(const std::function<void(int64_t)>& part, int64_t parts) {
    for (;;) {
      const int64_t mine = next_++;
      if (mine >= parts) return;
      part(mine);
      std::lock_guard<std::mutex> lock(mutex_);
      if (--left_ == 0) done_.notify_all();
    }
  }
  void Loop() {
    uint64_t seen = 0;
    for (;;) {
      const std::function<void(int64_t)>* part;
      int64_t parts;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [&] { return stop_ || (part_ && round_ != seen); });
        if (stop_) return;
        seen = round_;
        part = part_;
        parts = parts_;
        inside_++;
      }
      Work(*part, parts);
      std::lock_guard<std::mutex> lock(mutex_);
      if (--inside_ == 0) done_.notify_all();
    }
  }
  std::atomic_flag used_ = ATOMIC_FLAG_INIT;
  std::mutex mutex_;
  std::condition_variable changed_, done_;
  std::vector<std::thread> threads_;
  const std::function<void(int64_t)>* part_ = nullptr;
  std::atomic<int64_t> next_{0};
  int64_t parts_ = 0, left_ = 0;
  int inside_ = 0;
  uint64_t round_ = 0;
  bool stop_ = false;
};

Pool& Threads() {
  static Pool pool;
  return pool;
}

}  // namespace

void ParallelFor(int64_t count, int64_t grain,
                 const std::function<void(int64_t begin, int64_t end)>& work) {
  if (count <= 0) return;
  grain = std::max<int64_t>(1, grain);
  if (count < 2 * grain || Threads().width() == 1 || !Threads().Try()) {
    work(0, count);
    return;
  }
  const int64_t parts = std::min(count / grain, 2 * Threads().width());
  Threads().Run(parts, [&](int64_t i) { work(count * i / parts, count * (i + 1) / parts); });
  Threads().Leave();
}

}  // namespace ascend
