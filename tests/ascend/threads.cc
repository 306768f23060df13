// Loads the plugin by its C interface, without Python, and uses it from several threads at once.
//
// Arguments: the plugin's library, and a list of programs: a line each, with the path of the
// serialised executable, its number of devices, and the shapes of what a device takes ("4x8").
// Ends with 0 where each thread got what the first, single run of each program gave. With a third
// argument the threads also write to one number without a lock, which a sanitizer must find.
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "pjrt/abi.h"
#include "pjrt/slots.h"

namespace {

constexpr int kThreads = 4, kDevices = 4, kRounds = 40;
const PJRT_Api* api;
PJRT_Client* client;
std::vector<PJRT_Device*> devices;

enum Slot {
#define NUMBER(function) k_##function,
  PJRT_SLOTS(NUMBER, NUMBER)
#undef NUMBER
};

void Check(PJRT_Error* error, const char* what) {
  if (!error) return;
  PJRT_Error_Message_Args message{};
  message.error = error;
  reinterpret_cast<void (*)(PJRT_Error_Message_Args*)>(api->functions[k_PJRT_Error_Message])(
      &message);
  std::fprintf(stderr, "%s: %.*s\n", what, static_cast<int>(message.message_size),
               message.message);
  std::_Exit(1);
}

template <typename Args>
void Call(Slot slot, const char* name, Args& args) {
  args.struct_size = sizeof args;
  Check(reinterpret_cast<PJRT_Error* (*)(Args*)>(api->functions[slot])(&args), name);
}
#define CALL(function, args) Call(k_##function, #function, args)

struct Program {
  std::string bytes;
  size_t devices;
  std::vector<std::vector<int64_t>> shapes;
  PJRT_LoadedExecutable* loaded = nullptr;
  std::vector<size_t> output_bytes;
  std::vector<std::vector<char>> expected;  // device by device
  std::vector<PJRT_Buffer*> shared;         // arguments that all threads read
};

PJRT_LoadedExecutable* Load(const Program& program) {
  PJRT_Executable_DeserializeAndLoad_Args a{};
  a.client = client;
  a.serialized_executable = program.bytes.data();
  a.serialized_executable_size = program.bytes.size();
  CALL(PJRT_Executable_DeserializeAndLoad, a);
  return a.loaded_executable;
}

void Unload(PJRT_LoadedExecutable* loaded) {
  PJRT_LoadedExecutable_Destroy_Args a{};
  a.executable = loaded;
  CALL(PJRT_LoadedExecutable_Destroy, a);
}

void Await(PJRT_Event* event) {
  if (!event) return;
  PJRT_Event_Await_Args wait{};
  wait.event = event;
  CALL(PJRT_Event_Await, wait);
  PJRT_Event_Destroy_Args destroy{};
  destroy.event = event;
  CALL(PJRT_Event_Destroy, destroy);
}

PJRT_Buffer* Put(const std::vector<int64_t>& dims, size_t device, int seed) {
  size_t count = 1;
  for (int64_t d : dims) count *= d;
  std::vector<float> data(count);
  for (size_t i = 0; i < count; i++) data[i] = static_cast<float>((i * 7 + seed * 3) % 13) / 13;
  PJRT_Client_BufferFromHostBuffer_Args a{};
  a.client = client;
  a.data = data.data();
  a.type = PJRT_Buffer_Type_F32;
  a.dims = dims.data();
  a.num_dims = dims.size();
  a.host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes;
  a.device = devices[device];
  CALL(PJRT_Client_BufferFromHostBuffer, a);
  Await(a.done_with_host_buffer);
  return a.buffer;
}

void Drop(PJRT_Buffer* buffer) {
  PJRT_Buffer_Destroy_Args a{};
  a.buffer = buffer;
  CALL(PJRT_Buffer_Destroy, a);
}

std::vector<PJRT_Buffer*> Arguments(const Program& program, int seed) {
  std::vector<PJRT_Buffer*> made;
  for (size_t d = 0; d < program.devices; d++)
    for (size_t i = 0; i < program.shapes.size(); i++)
      made.push_back(Put(program.shapes[i], d, seed + static_cast<int>(i)));
  return made;
}

// Runs a program; the results may not be there yet.
std::vector<PJRT_Buffer*> Run(const Program& program, PJRT_LoadedExecutable* loaded,
                              const std::vector<PJRT_Buffer*>& arguments, bool events) {
  const size_t each = program.shapes.size(), outputs = program.output_bytes.size();
  std::vector<PJRT_Buffer* const*> lists;
  std::vector<PJRT_Buffer*> results(program.devices * outputs);
  std::vector<PJRT_Buffer**> result_lists;
  std::vector<PJRT_Event*> done(program.devices);
  for (size_t d = 0; d < program.devices; d++) {
    lists.push_back(arguments.data() + d * each);
    result_lists.push_back(results.data() + d * outputs);
  }
  PJRT_ExecuteOptions options{};
  options.struct_size = sizeof options;
  PJRT_LoadedExecutable_Execute_Args a{};
  a.executable = loaded;
  a.options = &options;
  a.argument_lists = lists.data();
  a.num_devices = program.devices;
  a.num_args = each;
  a.output_lists = result_lists.data();
  a.device_complete_events = events ? done.data() : nullptr;
  CALL(PJRT_LoadedExecutable_Execute, a);
  if (events)
    for (PJRT_Event* event : done) Await(event);
  return results;
}

std::vector<std::vector<char>> Read(const std::vector<PJRT_Buffer*>& buffers) {
  std::vector<std::vector<char>> read;
  std::vector<PJRT_Event*> events;
  for (PJRT_Buffer* buffer : buffers) {
    PJRT_Buffer_ToHostBuffer_Args a{};
    a.src = buffer;
    CALL(PJRT_Buffer_ToHostBuffer, a);
    read.emplace_back(a.dst_size);
    PJRT_Buffer_GetMemoryLayout_Args layout{};
    layout.buffer = buffer;
    CALL(PJRT_Buffer_GetMemoryLayout, layout);
    a.host_layout = &layout.layout;
    a.dst = read.back().data();
    CALL(PJRT_Buffer_ToHostBuffer, a);
    events.push_back(a.event);
  }
  for (PJRT_Event* event : events) Await(event);
  return read;
}

void Compare(const Program& program, const std::vector<PJRT_Buffer*>& results) {
  if (Read(results) != program.expected) {
    std::fprintf(stderr, "another result than the single run's\n");
    std::_Exit(1);
  }
}

std::atomic<int> called{0};

void Watch(PJRT_Buffer* buffer) {
  PJRT_Buffer_ReadyEvent_Args ready{};
  ready.buffer = buffer;
  CALL(PJRT_Buffer_ReadyEvent, ready);
  PJRT_Event_OnReady_Args on{};
  on.event = ready.event;
  on.callback = [](PJRT_Error*, void*) { called++; };
  CALL(PJRT_Event_OnReady, on);
  Await(ready.event);
}

void Statistics(size_t device) {
  PJRT_Device_MemoryStats_Args a{};
  a.device = devices[device];
  CALL(PJRT_Device_MemoryStats, a);
}

// Hands results to the thread that drops them.
std::mutex handed_mutex;
std::vector<PJRT_Buffer*> handed;
std::atomic<bool> running{true};

void DropHanded() {
  for (bool last = false; !last;) {
    last = !running;
    std::vector<PJRT_Buffer*> mine;
    {
      std::lock_guard<std::mutex> lock(handed_mutex);
      mine.swap(handed);
    }
    for (PJRT_Buffer* buffer : mine) Drop(buffer);
    std::this_thread::yield();
  }
}

int unguarded = 0;

void Work(const std::vector<Program>& programs, int thread, bool race) {
  std::mt19937 random(thread);
  for (int round = 0; round < kRounds; round++) {
    if (race) unguarded++;
    const Program& program = programs[random() % programs.size()];
    const bool own_executable = random() % 8 == 0, own_arguments = random() % 2;
    PJRT_LoadedExecutable* loaded = own_executable ? Load(program) : program.loaded;
    std::vector<PJRT_Buffer*> arguments =
        own_arguments ? Arguments(program, 0) : program.shared;
    std::vector<PJRT_Buffer*> results = Run(program, loaded, arguments, random() % 2);
    // What still runs keeps what it needs.
    if (own_executable) Unload(loaded);
    if (own_arguments)
      for (PJRT_Buffer* buffer : arguments) Drop(buffer);
    if (random() % 2) Watch(results[0]);
    if (random() % 4 == 0) {
      PJRT_Buffer_CopyToDevice_Args copy{};
      copy.buffer = results[0];
      copy.dst_device = devices[random() % kDevices];
      CALL(PJRT_Buffer_CopyToDevice, copy);
      const std::vector<std::vector<char>> read = Read({copy.dst_buffer});
      if (read[0] != program.expected[0]) std::_Exit(1);
      Drop(copy.dst_buffer);
    }
    if (random() % 2) Compare(program, results);
    Read(program.shared);
    Statistics(random() % kDevices);
    std::lock_guard<std::mutex> lock(handed_mutex);
    handed.insert(handed.end(), results.begin(), results.end());
  }
}

std::vector<Program> ReadList(const char* path) {
  std::vector<Program> programs;
  std::ifstream list(path);
  for (std::string line; std::getline(list, line);) {
    std::istringstream words(line);
    std::string file, shape;
    Program program;
    words >> file >> program.devices;
    std::ifstream in(file, std::ios::binary);
    program.bytes.assign(std::istreambuf_iterator<char>(in), {});
    while (words >> shape) {
      std::vector<int64_t> dims;
      std::istringstream numbers(shape);
      for (std::string number; std::getline(numbers, number, 'x');)
        dims.push_back(std::stoll(number));
      program.shapes.push_back(dims);
    }
    programs.push_back(program);
  }
  return programs;
}

void Prepare(Program& program) {
  program.loaded = Load(program);
  PJRT_LoadedExecutable_GetExecutable_Args executable{};
  executable.loaded_executable = program.loaded;
  CALL(PJRT_LoadedExecutable_GetExecutable, executable);
  PJRT_Executable_NumOutputs_Args outputs{};
  outputs.executable = executable.executable;
  CALL(PJRT_Executable_NumOutputs, outputs);
  program.output_bytes.resize(outputs.num_outputs);
  PJRT_Executable_Destroy_Args destroy{};
  destroy.executable = executable.executable;
  CALL(PJRT_Executable_Destroy, destroy);
  program.shared = Arguments(program, 0);
  const std::vector<PJRT_Buffer*> results = Run(program, program.loaded, program.shared, true);
  program.expected = Read(results);
  for (PJRT_Buffer* buffer : results) Drop(buffer);
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) return 2;
  const bool race = count > 3;
  void* library = dlopen(words[1], RTLD_NOW);
  if (!library) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  api = reinterpret_cast<const PJRT_Api* (*)()>(dlsym(library, "GetPjrtApi"))();
  PJRT_NamedValue options[2]{};
  for (auto& option : options) option.struct_size = sizeof option;
  options[0].name = "driver";
  options[0].name_size = 6;
  options[0].type = PJRT_NamedValue_kString;
  options[0].string_value = "sim";
  options[0].value_size = 3;
  options[1].name = "num_devices";
  options[1].name_size = 11;
  options[1].type = PJRT_NamedValue_kInt64;
  options[1].int64_value = kDevices;
  options[1].value_size = 1;
  PJRT_Client_Create_Args create{};
  create.create_options = options;
  create.num_options = 2;
  CALL(PJRT_Client_Create, create);
  client = create.client;
  PJRT_Client_Devices_Args all{};
  all.client = client;
  CALL(PJRT_Client_Devices, all);
  devices.assign(all.devices, all.devices + all.num_devices);

  std::vector<Program> programs = ReadList(words[2]);
  if (programs.empty()) return 2;
  for (Program& program : programs) Prepare(program);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; i++)
    threads.emplace_back([&programs, i, race] { Work(programs, i, race); });
  std::thread dropping(DropHanded);
  for (std::thread& thread : threads) thread.join();
  running = false;
  dropping.join();
  for (Program& program : programs) {
    for (PJRT_Buffer* buffer : program.shared) Drop(buffer);
    Unload(program.loaded);
  }
  PJRT_Client_Destroy_Args destroy{};
  destroy.client = client;
  CALL(PJRT_Client_Destroy, destroy);
  std::printf("%zu programs, %d runs, %d callbacks\n", programs.size(), kThreads * kRounds,
              called.load());
  return 0;
}
