#include "execute.h"

#include <algorithm>
#include <optional>
#include <system_error>
#include <thread>

#include "../runtime/gang.h"
#include "../runtime/offload.h"
#include "buffer.h"
#include "failure.h"
#include "python.h"

namespace ascend {
namespace {

// A program whose steps take less than it costs to wake another thread runs in the caller's.
constexpr int64_t kShort = 20000;

std::atomic<int64_t> executions[2];  // by steps, by the delegate

struct Execution {
  std::shared_ptr<Compiled> compiled;
  std::vector<PJRT_Device*> devices;
  std::vector<std::shared_ptr<Storage>> arguments, outputs;
  std::vector<std::shared_ptr<Signal>> before;
  std::shared_ptr<Signal> done = std::make_shared<Signal>();

  void Run();
  void RunSteps();
  void RunOn(size_t number, Gang* gang);
  std::vector<char*> Share(const std::vector<std::shared_ptr<Storage>>& all, size_t number) const;
  void RunWithDelegate();
};

std::vector<char*> Addresses(const std::vector<std::shared_ptr<Storage>>& storages) {
  std::vector<char*> addresses;
  addresses.reserve(storages.size());
  for (auto& storage : storages) addresses.push_back(storage->data());
  return addresses;
}

// Addresses of one device's share.
std::vector<char*> Execution::Share(const std::vector<std::shared_ptr<Storage>>& all,
                                    size_t number) const {
  const size_t each = all.size() / devices.size();
  std::vector<char*> addresses(each);
  for (size_t i = 0; i < each; i++) addresses[i] = all[number * each + i]->data();
  return addresses;
}

// The part of one device: its share of the arguments and outputs.
void Execution::RunOn(size_t number, Gang* gang) {
  PJRT_Device* device = devices[number];
  const Program& program = *compiled->program;
  const std::vector<char*> inputs = Share(arguments, number), results = Share(outputs, number);
  Storage arena(Memory::Of(device->memories[0]), program.arena);
  if (device->driver().host_visible()) {
    RunProgram(program, inputs, results, arena.data(), gang, number);
    return;
  }
  std::vector<bool> on_host;
  for (size_t i = 0; i < inputs.size(); i++)
    on_host.push_back(arguments[number * inputs.size() + i]->on_host());
  Offload(program, device->driver(), device->description.id, inputs, on_host, results,
          arena.data(), gang, number);
}

// Each device of a program has a thread, since they wait for each other.
void Execution::RunSteps() {
  executions[0]++;
  if (devices.size() == 1) {
    RunOn(0, nullptr);
    return;
  }
  Gang gang(static_cast<int>(devices.size()));
  std::vector<std::optional<Failure>> failures(devices.size());
  const auto part = [&](size_t number) {
    try {
      RunOn(number, &gang);
    } catch (const Failure& failure) {
      failures[number] = failure;
    } catch (const std::exception& error) {
      failures[number] = Internal(std::string("ascend: ") + error.what());
    }
    gang.Leave(static_cast<int>(number));
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < devices.size(); i++) {
    try {
      threads.emplace_back(part, i);
    } catch (const std::system_error&) {
      failures[i] = Failure(PJRT_Error_Code_RESOURCE_EXHAUSTED, "ascend: no more threads");
      gang.Leave(static_cast<int>(i));
    }
  }
  part(0);
  for (std::thread& thread : threads) thread.join();
  // Devices that waited for one that failed only say that it did not come.
  const std::optional<Failure>* first = nullptr;
  for (const auto& failure : failures)
    if (failure && (!first || (*first)->code == PJRT_Error_Code_ABORTED)) first = &failure;
  if (first) throw **first;
}

void Execution::RunWithDelegate() {
  executions[1]++;
  const int count = static_cast<int>(devices.size());
  Driver& driver = devices[0]->driver();
  if (driver.host_visible()) {
    RunDelegate(compiled->delegate, count, Addresses(arguments), Addresses(outputs));
    return;
  }
  // The delegate computes on the host: its inputs and outputs are copied.
  std::vector<std::vector<char>> copies;
  std::vector<char*> inputs, results;
  const size_t each = count ? arguments.size() / count : 0;
  for (size_t i = 0; i < arguments.size(); i++) {
    const Storage& from = *arguments[i];
    if (from.on_host()) {
      inputs.push_back(from.data());
      continue;
    }
    copies.emplace_back(from.bytes() + 1);
    inputs.push_back(copies.back().data());
    if (from.bytes())
      driver.ToHost(devices[i / each]->description.id, inputs[i], from.data(), from.bytes());
  }
  for (auto& output : outputs) {
    copies.emplace_back(output->bytes() + 1);
    results.push_back(copies.back().data());
  }
  RunDelegate(compiled->delegate, count, inputs, results);
  const size_t made = count ? outputs.size() / count : 0;
  for (size_t i = 0; i < outputs.size(); i++)
    if (outputs[i]->bytes())
      driver.ToDevice(devices[i / made]->description.id, outputs[i]->data(), results[i],
                      outputs[i]->bytes());
}

void Execution::Run() {
  try {
    for (auto& signal : before) {
      signal->Wait();
      if (const Failure* failure = signal->failure()) throw *failure;
    }
    if (compiled->delegate >= 0)
      RunWithDelegate();
    else
      RunSteps();
    arguments.clear();
    outputs.clear();
    done->Set();
  } catch (const Failure& failure) {
    done->Fail(failure);
  } catch (const std::bad_alloc&) {
    done->Fail(Failure(PJRT_Error_Code_RESOURCE_EXHAUSTED, "ascend: the host is out of memory"));
  } catch (const std::exception& error) {
    done->Fail(Internal(std::string("ascend: ") + error.what()));
  }
}

bool Donates(const PJRT_ExecuteOptions* options, int64_t index) {
  const int64_t* kept = options->non_donatable_input_indices;
  return std::find(kept, kept + options->num_non_donatable_input_indices, index) ==
         kept + options->num_non_donatable_input_indices;
}

// An argument must have the shape that the program was compiled for.
void CheckArgument(const Program& program, size_t index, const PJRT_Buffer& buffer) {
  // jax passes an empty array of truth values where an order of effects begins.
  if (program.parameter_types[index] == PJRT_Buffer_Type_TOKEN) return;
  if (program.parameter_types[index] != static_cast<int>(buffer.type) ||
      program.parameter_dims[index] != buffer.dims)
    throw InvalidArgument("ascend: argument " + std::to_string(index) + " of '" + program.name +
                          "' has another shape or type than the program was compiled for");
}

}  // namespace

void Execute(PJRT_LoadedExecutable_Execute_Args* a) {
  PJRT_LoadedExecutable* loaded = a->executable;
  if (loaded->deleted) throw InvalidArgument("ascend: the executable has been deleted");
  const Program& program = *loaded->compiled->program;
  if (a->num_args != program.parameter_types.size())
    throw InvalidArgument("ascend: '" + program.name + "' takes " +
                          std::to_string(program.parameter_types.size()) + " arguments, not " +
                          std::to_string(a->num_args));
  if (!a->execute_device && a->num_devices != loaded->devices.size())
    throw InvalidArgument("ascend: '" + program.name + "' runs on " +
                          std::to_string(loaded->devices.size()) + " devices, not " +
                          std::to_string(a->num_devices));
  auto execution = std::make_shared<Execution>();
  execution->compiled = loaded->compiled;
  bool waiting = false;
  for (size_t d = 0; d < a->num_devices; d++) {
    execution->devices.push_back(a->execute_device ? a->execute_device : loaded->devices[d]);
    for (size_t i = 0; i < a->num_args; i++) {
      PJRT_Buffer* buffer = a->argument_lists[d][i];
      CheckArgument(program, i, *buffer);
      execution->arguments.push_back(buffer->storage("an argument"));
      if (!buffer->ready->ready() || buffer->ready->failure()) {
        execution->before.push_back(buffer->ready);
        waiting = true;
      }
    }
  }
  std::vector<std::unique_ptr<PJRT_Buffer>> made;
  const size_t outputs = program.output_types.size();
  for (size_t d = 0; d < a->num_devices; d++) {
    for (size_t i = 0; i < outputs; i++) {
      Memory* memory =
          Memory::Of(execution->devices[d]->memories[program.output_memories[i]]);
      made.push_back(std::make_unique<PJRT_Buffer>(memory, loaded->compiled->types[i],
                                                   program.output_dims[i], execution->done));
      execution->outputs.push_back(made.back()->storage("an output"));
    }
  }
  // Nothing below throws: donated arrays are gone only if the execution starts.
  for (size_t d = 0; d < a->num_devices; d++) {
    for (int64_t index : program.donated)
      if (Donates(a->options, index)) a->argument_lists[d][index]->Delete();
    for (size_t i = 0; i < outputs; i++) a->output_lists[d][i] = made[d * outputs + i].release();
    if (a->device_complete_events) a->device_complete_events[d] = new PJRT_Event{execution->done};
  }
  const bool host = execution->devices[0]->driver().host_visible();
  const bool single = execution->devices.size() == 1;
  if (!waiting && host && single && loaded->compiled->delegate < 0 && program.cost < kShort)
    execution->Run();
  else
    execution->devices[0]->stream.Enqueue([execution] { execution->Run(); });
}

}  // namespace ascend

// How many programs ran by steps of this library (0) and with the delegate (1).
extern "C" __attribute__((visibility("default"))) int64_t ascend_executions(int which) {
  return ascend::executions[which ? 1 : 0];
}
