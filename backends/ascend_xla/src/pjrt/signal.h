// What a result waits for: set once, to success or to a failure.
#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "failure.h"

namespace ascend {

class Signal {
 public:
  void Set() { Finish(std::nullopt); }
  void Fail(Failure failure) { Finish(std::move(failure)); }
  bool ready() const { return ready_.load(std::memory_order_acquire); }
  void Wait();
  // Calls back now or when it is set, in the thread that sets it.
  void OnReady(std::function<void()> callback);
  // The failure, once ready; null after success.
  const Failure* failure() const { return ready() && failure_ ? &*failure_ : nullptr; }
  static std::shared_ptr<Signal> Ready();

 private:
  void Finish(std::optional<Failure> failure);
  std::atomic<bool> ready_{false};
  std::optional<Failure> failure_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::function<void()>> callbacks_;
};

}  // namespace ascend

struct PJRT_Event {
  std::shared_ptr<ascend::Signal> signal;
};
