#include "offload.h"

#include <cstring>
#include <map>
#include <set>

#include "../pjrt/failure.h"

namespace ascend {
namespace {

// Counts of steps: by operators of the driver's library, and by host segments.
std::atomic<int64_t> launched, on_the_host;

void AddIds(const Region& region, std::set<int>* ids) {
  ids->insert(region.parameters.begin(), region.parameters.end());
  ids->insert(region.results.begin(), region.results.end());
  for (const Step& step : region.steps) {
    ids->insert(step.inputs.begin(), step.inputs.end());
    ids->insert(step.outputs.begin(), step.outputs.end());
    for (const Region& inner : step.regions) AddIds(inner, ids);
  }
}

// Both memories hold all values at the same offsets; a value is valid in one of them or in both.
class Mirror {
 public:
  Mirror(const Program& program, Driver& driver, int device,
         const std::vector<char*>& arguments, const std::vector<bool>& on_host,
         const std::vector<char*>& outputs, char* arena, Gang* gang, int64_t member)
      : program_(program), driver_(driver), device_(device), host_{program, {}, gang, member} {
    host_arena_.resize(program.arena + 64);
    host_.data.resize(program.values.size());
    device_data_.resize(program.values.size());
    for (size_t i = 0; i < program.values.size(); i++) {
      const Value& value = program.values[i];
      const auto key = std::make_pair(value.place, value.index);
      auto found = keys_.find(key);
      if (found == keys_.end()) {
        found = keys_.emplace(key, states_.size()).first;
        states_.push_back({});
      }
      State& state = states_[found->second];
      key_of_.push_back(found->second);
      switch (value.place) {
        case Place::kArgument:
          if (on_host[value.index]) {
            state.host = true;
            host_.data[i] = arguments[value.index];
          } else {
            state.device = true;
            device_data_[i] = arguments[value.index];
          }
          break;
        case Place::kConstant:
          state.host = true;
          host_.data[i] = const_cast<char*>(program.constants.data()) + value.index;
          break;
        case Place::kArena:
          host_.data[i] = host_arena_.data() + value.index;
          device_data_[i] = arena + value.index;
          break;
        case Place::kOutput:
          device_data_[i] = outputs[value.index];
          break;
      }
      state.bytes = std::max(state.bytes, value.bytes);
    }
    // Room for what has an address in one of the memories only.
    for (size_t i = 0; i < program.values.size(); i++) {
      State& state = states_[key_of_[i]];
      if (!host_.data[i]) {
        if (!state.host_room) state.host_room = std::make_unique<char[]>(state.bytes + 64);
        host_.data[i] = state.host_room.get();
      }
      if (!device_data_[i]) {
        if (!state.device_room)
          state.device_room = static_cast<char*>(driver.Allocate(device, state.bytes));
        device_data_[i] = state.device_room;
      }
    }
  }
  ~Mirror() {
    for (State& state : states_)
      if (state.device_room) driver_.Free(device_, state.device_room);
  }

  bool Launch(const Step& step) {
    if (step.calls.empty()) return false;
    std::vector<Operand> operands;
    for (int id : step.inputs) ToDevice(id);
    for (const OperatorCall& call : step.calls)
      for (const Argument& argument : call.arguments)
        // What is written in part holds the rest from before.
        if (argument.kind == 'x' && static_cast<size_t>(argument.number) >= step.inputs.size())
          ToDevice(step.outputs[argument.number - step.inputs.size()]);
    for (const auto* ids : {&step.inputs, &step.outputs})
      for (int id : *ids)
        operands.push_back({device_data_[id], program_.values[id].type, &program_.values[id].dims});
    if (!driver_.Launch(device_, step.calls, operands)) return false;
    for (int id : step.outputs) {
      states_[key_of_[id]].device = true;
      states_[key_of_[id]].host = false;
    }
    launched++;
    return true;
  }

  void OnHost(const Step& step) {
    std::set<int> read(step.inputs.begin(), step.inputs.end());
    std::set<int> written(step.outputs.begin(), step.outputs.end());
    // A copy may leave parts of its output as other steps made them.
    read.insert(written.begin(), written.end());
    for (const Region& region : step.regions) AddIds(region, &read);
    driver_.Synchronize(device_);
    for (int id : read) ToHost(id);
    step.kernel(step, host_);
    for (int id : written) {
      states_[key_of_[id]].host = true;
      states_[key_of_[id]].device = false;
    }
    on_the_host++;
  }

  void Finish() {
    driver_.Synchronize(device_);
    for (size_t i = 0; i < program_.values.size(); i++)
      if (program_.values[i].place == Place::kOutput) ToDevice(static_cast<int>(i));
  }

 private:
  struct State {
    bool host = false, device = false;
    size_t bytes = 0;
    std::unique_ptr<char[]> host_room;
    char* device_room = nullptr;
  };
  void ToHost(int id) {
    State& state = states_[key_of_[id]];
    if (state.host || !state.device) return;
    if (program_.values[id].bytes)
      driver_.ToHost(device_, host_.data[id], device_data_[id], program_.values[id].bytes);
    state.host = true;
  }
  void ToDevice(int id) {
    State& state = states_[key_of_[id]];
    if (state.device || !state.host) return;
    if (program_.values[id].bytes)
      driver_.ToDevice(device_, device_data_[id], host_.data[id], program_.values[id].bytes);
    state.device = true;
  }
  const Program& program_;
  Driver& driver_;
  const int device_;
  std::vector<char> host_arena_;
  Frame host_;
  std::vector<char*> device_data_;
  std::map<std::pair<Place, int64_t>, size_t> keys_;
  std::vector<size_t> key_of_;
  std::vector<State> states_;
};

}  // namespace

void Offload(const Program& program, Driver& driver, int device,
             const std::vector<char*>& arguments, const std::vector<bool>& on_host,
             const std::vector<char*>& outputs, char* arena, Gang* gang, int64_t member) {
  Mirror mirror(program, driver, device, arguments, on_host, outputs, arena, gang, member);
  try {
    for (const Step& step : program.body.steps)
      if (!mirror.Launch(step)) mirror.OnHost(step);
    mirror.Finish();
  } catch (...) {
    // Operators that are queued still write to memory that the failure is about to free.
    try {
      driver.Synchronize(device);
    } catch (const Failure&) {
    }
    throw;
  }
}

}  // namespace ascend

// How many steps ran as operators of the driver's library (0) and on the host (1).
extern "C" __attribute__((visibility("default"))) int64_t ascend_offloaded(int which) {
  return which ? ascend::on_the_host : ascend::launched;
}
