// A device's queue of work: its own thread runs it in order.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace ascend {

class Stream {
 public:
  ~Stream();
  // Adds work; the thread starts with the first. Work must not throw.
  void Enqueue(std::function<void()> work);

 private:
  void Loop();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace ascend
