// Devices that run one program together wait for each other here.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace ascend {

class Gang {
 public:
  explicit Gang(int size) : left_(size, false) {}
  // Shows memory to the members of a group; gives what all of them show, in the group's order,
  // once the last has come. `meeting` tells the program's meetings apart. Throws ABORTED where a
  // member has left, which no longer comes.
  std::vector<const char*> Show(int64_t meeting, const std::vector<int64_t>& group,
                                size_t position, const char* data);
  // Waits until all of the group have read what was shown.
  void Part(int64_t meeting, const std::vector<int64_t>& group);
  // A member's part of the program has ended, well or not.
  void Leave(int member);

 private:
  struct Meeting {
    std::vector<const char*> shown;
    size_t arrived = 0;
    uint64_t round = 0;
  };
  void Arrive(Meeting& meeting, const std::vector<int64_t>& group,
              std::unique_lock<std::mutex>& lock);
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<int64_t, int64_t>, Meeting> meetings_;
  std::vector<bool> left_;
};

}  // namespace ascend
