#include "gang.h"

#include "../pjrt/failure.h"

namespace ascend {

std::vector<const char*> Gang::Show(int64_t meeting, const std::vector<int64_t>& group,
                                    size_t position, const char* data) {
  std::unique_lock<std::mutex> lock(mutex_);
  Meeting& here = meetings_[{meeting, group.at(0)}];
  here.shown.resize(group.size());
  here.shown.at(position) = data;
  Arrive(here, group, lock);
  return here.shown;
}

void Gang::Part(int64_t meeting, const std::vector<int64_t>& group) {
  std::unique_lock<std::mutex> lock(mutex_);
  Arrive(meetings_[{meeting, group.at(0)}], group, lock);
}

void Gang::Arrive(Meeting& meeting, const std::vector<int64_t>& group,
                  std::unique_lock<std::mutex>& lock) {
  const uint64_t round = meeting.round;
  if (++meeting.arrived == group.size()) {
    meeting.arrived = 0;
    meeting.round++;
    changed_.notify_all();
    return;
  }
  for (;;) {
    if (meeting.round != round) return;
    for (int64_t member : group)
      if (left_.at(member))
        throw Failure(PJRT_Error_Code_ABORTED,
                      "ascend: device " + std::to_string(member) +
                          " of a program ended without joining a collective operation");
    changed_.wait(lock);
  }
}

void Gang::Leave(int member) {
  std::lock_guard<std::mutex> lock(mutex_);
  left_.at(member) = true;
  changed_.notify_all();
}

}  // namespace ascend
