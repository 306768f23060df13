// Steps in which the devices of one program read each other's memory.
#include <algorithm>
#include <cstring>

#include "../pjrt/failure.h"
#include "gang.h"
#include "program.h"

namespace ascend {
namespace {

// Devices meet group by group; one that is in no group takes no part.
struct Groups {
  int64_t meeting;
  std::vector<std::vector<int64_t>> groups;
  std::vector<int64_t> rest;
};

std::shared_ptr<void> PrepareGroups(const Step& step, const Program& program) {
  Numbers in(step.ints);
  auto groups = std::make_shared<Groups>();
  groups->meeting = step.number;
  const int64_t count = in.Next(), size = in.Next();
  for (int64_t i = 0; i < count; i++) {
    groups->groups.push_back(in.List(size));
    for (int64_t member : groups->groups.back())
      if (member < 0 || member >= program.partitions)
        throw InvalidArgument("ascend: a collective operation names device " +
                              std::to_string(member) + " of " +
                              std::to_string(program.partitions));
  }
  groups->rest = in.Counted();
  return groups;
}

// Calls `copy` with what the group shows and the device's place in it, between two meetings.
template <typename Copy>
void Meet(const Step& step, Frame& frame, Copy copy) {
  const Groups& groups = *static_cast<const Groups*>(step.prepared.get());
  if (!frame.gang) throw Internal("ascend: a collective operation of one device");
  for (const auto& group : groups.groups) {
    const auto mine = std::find(group.begin(), group.end(), frame.member);
    if (mine == group.end()) continue;
    const size_t position = mine - group.begin();
    const auto shown =
        frame.gang->Show(groups.meeting, group, position, frame.data[step.inputs[0]]);
    copy(shown, position);
    frame.gang->Part(groups.meeting, group);
    return;
  }
}

// The output is the group's inputs, one after another.
void RunDeviceGather(const Step& step, Frame& frame) {
  const size_t bytes = frame.value(step.inputs[0]).bytes;
  char* to = frame.data[step.outputs[0]];
  Meet(step, frame, [&](const std::vector<const char*>& shown, size_t) {
    for (const char* from : shown) {
      std::memcpy(to, from, bytes);
      to += bytes;
    }
  });
}

// Each input is a part for every device of the group; the output is the parts for this one.
void RunDeviceExchange(const Step& step, Frame& frame) {
  char* to = frame.data[step.outputs[0]];
  Meet(step, frame, [&](const std::vector<const char*>& shown, size_t position) {
    const size_t bytes = frame.value(step.inputs[0]).bytes / shown.size();
    for (const char* from : shown) {
      std::memcpy(to, from + position * bytes, bytes);
      to += bytes;
    }
  });
}

// Pairs of a source and a target; a device that is no target gets zeros.
void RunDevicePermute(const Step& step, Frame& frame) {
  const auto& pairs = static_cast<const Groups*>(step.prepared.get())->rest;
  const size_t bytes = frame.value(step.outputs[0]).bytes;
  char* to = frame.data[step.outputs[0]];
  Meet(step, frame, [&](const std::vector<const char*>& shown, size_t) {
    for (size_t i = 0; i + 1 < pairs.size(); i += 2)
      if (pairs[i + 1] == frame.member) {
        std::memcpy(to, shown.at(pairs[i]), bytes);
        return;
      }
    std::memset(to, 0, bytes);
  });
}

void RunPartitionId(const Step& step, Frame& frame) {
  const uint32_t number = static_cast<uint32_t>(frame.member);
  std::memcpy(frame.data[step.outputs[0]], &number, sizeof number);
}

const Registration device_gather("device_gather", RunDeviceGather, PrepareGroups);
const Registration device_exchange("device_exchange", RunDeviceExchange, PrepareGroups);
const Registration device_permute("device_permute", RunDevicePermute, PrepareGroups);
const Registration partition_id("partition_id", RunPartitionId);

}  // namespace
}  // namespace ascend
