#include "signal.h"

namespace ascend {

void Signal::Finish(std::optional<Failure> failure) {
  std::vector<std::function<void()>> callbacks;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    failure_ = std::move(failure);
    ready_.store(true, std::memory_order_release);
    callbacks.swap(callbacks_);
    changed_.notify_all();
  }
  for (auto& callback : callbacks) callback();
}

void Signal::Wait() {
  if (ready()) return;
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return ready(); });
}

void Signal::OnReady(std::function<void()> callback) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!ready()) {
      callbacks_.push_back(std::move(callback));
      return;
    }
  }
  callback();
}

std::shared_ptr<Signal> Signal::Ready() {
  static const std::shared_ptr<Signal> ready = [] {
    auto signal = std::make_shared<Signal>();
    signal->Set();
    return signal;
  }();
  return ready;
}

}  // namespace ascend
