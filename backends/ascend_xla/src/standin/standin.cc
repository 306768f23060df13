// A stand-in for CANN's libascendcl and libopapi, for tests without an NPU: the entry points that the
// driver `acl` uses, on the host's memory. It checks the order of calls, what is released twice or
// never, and memory that belongs elsewhere; and it fails where it is told to. It is no CANN, and what
// passes here is no proof for an NPU. This file is the runtime; the others hold operators.
#include "standin.h"

#include <cstdlib>

namespace standin {

std::mutex mutex;

namespace {

constexpr int kDevices = 2;
constexpr size_t kMemory = size_t(1) << 30;
struct Stream {
  int device;
  std::vector<std::function<void()>> queue;
};
struct Executor {
  std::function<void()> run;
  uint64_t workspace;
  std::string name;
};

bool ready = false;
std::map<char*, std::pair<size_t, int>> memory;  // size and device
std::set<void*> streams, tensors, scalars, arrays, lists;
std::map<void*, Executor*> executors;
size_t used = 0;
std::string misuse, recent;
std::map<std::string, int64_t> calls;
struct Plan {
  int64_t call;
  int32_t code;
};
std::map<std::string, Plan> plans;
thread_local int current = -1;

}  // namespace

void Blame(const std::string& text) {
  misuse += text + "\n";
  recent = text;
}

// Counts a call, and gives the error that was planned for it.
int32_t Enter(const std::string& name, bool needs_ready) {
  const int64_t number = calls[name]++;
  if (needs_ready && !ready) {
    Blame(name + " outside aclInit and aclFinalize");
    return kInvalidUse;
  }
  auto plan = plans.find(name);
  if (plan != plans.end() && (plan->second.call == number || plan->second.call < 0)) {
    recent = "stand-in: planned failure of " + name;
    return plan->second.code;
  }
  return 0;
}

namespace {

bool OnDevice(const void* data, size_t bytes, int device, const char* user) {
  char* address = static_cast<char*>(const_cast<void*>(data));
  auto found = memory.upper_bound(address);
  if (found != memory.begin()) {
    --found;
    if (address + bytes <= found->first + found->second.first) {
      if (found->second.second != device) Blame(std::string(user) + ": memory of another device");
      return true;
    }
  }
  Blame(std::string(user) + ": no memory of a device");
  return false;
}

}  // namespace
}  // namespace standin

using namespace standin;

// What tests ask: plan a failure of the n-th call from now (all calls where n is negative), forget
// the plans, and read what was wrong and what is left.
ENTRY void standin_fail(const char* entry, int64_t nth, int32_t code) {
  std::lock_guard<std::mutex> lock(mutex);
  plans[entry] = {nth < 0 ? -1 : calls[entry] + nth, code};
}
ENTRY void standin_heal() {
  std::lock_guard<std::mutex> lock(mutex);
  plans.clear();
}
ENTRY const char* standin_misuse() {
  static std::string copy;
  std::lock_guard<std::mutex> lock(mutex);
  copy = misuse;
  return copy.c_str();
}
ENTRY int64_t standin_left(const char* what) {
  std::lock_guard<std::mutex> lock(mutex);
  const std::string name = what;
  if (name == "memory") return static_cast<int64_t>(memory.size());
  if (name == "streams") return static_cast<int64_t>(streams.size());
  if (name == "tensors") return static_cast<int64_t>(tensors.size());
  if (name == "scalars") return static_cast<int64_t>(scalars.size());
  if (name == "arrays") return static_cast<int64_t>(arrays.size());
  if (name == "lists") return static_cast<int64_t>(lists.size());
  if (name == "executors") return static_cast<int64_t>(executors.size());
  return calls[name];
}

ENTRY int32_t aclInit(const char*) {
  std::lock_guard<std::mutex> lock(mutex);
  if (int32_t error = Enter("aclInit", false)) return error;
  if (ready) {
    Blame("aclInit twice");
    return kInvalidUse;
  }
  ready = true;
  return 0;
}
ENTRY int32_t aclFinalize() {
  std::lock_guard<std::mutex> lock(mutex);
  if (int32_t error = Enter("aclFinalize")) return error;
  if (!streams.empty()) Blame("aclFinalize with streams left");
  ready = false;
  return 0;
}
ENTRY const char* aclGetRecentErrMsg() { return recent.c_str(); }
ENTRY int32_t aclrtGetDeviceCount(uint32_t* count) {
  std::lock_guard<std::mutex> lock(mutex);
  *count = kDevices;
  return Enter("aclrtGetDeviceCount");
}
ENTRY int32_t aclrtSetDevice(int32_t device) {
  std::lock_guard<std::mutex> lock(mutex);
  if (int32_t error = Enter("aclrtSetDevice")) return error;
  if (device < 0 || device >= kDevices) return kInvalidUse;
  current = device;
  return 0;
}
ENTRY int32_t aclrtResetDevice(int32_t) {
  std::lock_guard<std::mutex> lock(mutex);
  return Enter("aclrtResetDevice");
}
ENTRY const char* aclrtGetSocName() { return "Stand-in for Ascend910B"; }
ENTRY int32_t aclrtGetMemInfo(int, size_t* free, size_t* total) {
  std::lock_guard<std::mutex> lock(mutex);
  *free = kMemory - used;
  *total = kMemory;
  return Enter("aclrtGetMemInfo");
}
ENTRY int32_t aclrtMalloc(void** data, size_t bytes, int) {
  std::lock_guard<std::mutex> lock(mutex);
  if (int32_t error = Enter("aclrtMalloc")) return error;
  if (current < 0) {
    Blame("aclrtMalloc before aclrtSetDevice");
    return kInvalidUse;
  }
  if (!bytes || used + bytes > kMemory) return kOutOfMemory;
  char* block = static_cast<char*>(std::aligned_alloc(64, (bytes + 63) / 64 * 64));
  // Fresh memory of a device holds anything.
  std::memset(block, 0xA5, bytes);
  memory[block] = {bytes, current};
  used += bytes;
  *data = block;
  return 0;
}
ENTRY int32_t aclrtFree(void* data) {
  std::lock_guard<std::mutex> lock(mutex);
  if (int32_t error = Enter("aclrtFree")) return error;
  auto found = memory.find(static_cast<char*>(data));
  if (found == memory.end()) {
    Blame("aclrtFree of what aclrtMalloc did not give");
    return kInvalidUse;
  }
  used -= found->second.first;
  std::free(found->first);
  memory.erase(found);
  return 0;
}
ENTRY int32_t aclrtMemcpy(void* to, size_t room, const void* from, size_t bytes, int kind) {
  std::lock_guard<std::mutex> lock(mutex);
  if (int32_t error = Enter("aclrtMemcpy")) return error;
  if (bytes > room) {
    Blame("aclrtMemcpy of more than its room");
    return kInvalidUse;
  }
  if ((kind == 1 || kind == 3) && !OnDevice(to, bytes, current, "aclrtMemcpy")) return kInvalidUse;
  if ((kind == 2 || kind == 3) && !OnDevice(from, bytes, current, "aclrtMemcpy"))
    return kInvalidUse;
  std::memmove(to, from, bytes);
  return 0;
}
ENTRY int32_t aclrtCreateStream(void** stream) {
  std::lock_guard<std::mutex> lock(mutex);
  if (int32_t error = Enter("aclrtCreateStream")) return error;
  *stream = new Stream{current, {}};
  streams.insert(*stream);
  return 0;
}
ENTRY int32_t aclrtDestroyStream(void* stream) {
  std::lock_guard<std::mutex> lock(mutex);
  if (int32_t error = Enter("aclrtDestroyStream")) return error;
  if (!streams.erase(stream)) {
    Blame("aclrtDestroyStream of no stream");
    return kInvalidUse;
  }
  if (!static_cast<Stream*>(stream)->queue.empty()) Blame("a stream is destroyed with work in it");
  delete static_cast<Stream*>(stream);
  return 0;
}
// Work runs only now: what is read before it is synchronised is wrong here, as on a device.
ENTRY int32_t aclrtSynchronizeStream(void* stream) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!streams.count(stream)) {
    Blame("aclrtSynchronizeStream of no stream");
    return kInvalidUse;
  }
  auto queue = std::move(static_cast<Stream*>(stream)->queue);
  static_cast<Stream*>(stream)->queue.clear();
  if (int32_t error = Enter("aclrtSynchronizeStream")) return error;
  for (auto& work : queue) work();
  return 0;
}

ENTRY void* aclCreateTensor(const int64_t* dims, uint64_t count, int type, const int64_t* strides,
                            int64_t offset, int format, const int64_t* storage,
                            uint64_t storage_count, void* data) {
  std::lock_guard<std::mutex> lock(mutex);
  if (Enter("aclCreateTensor")) return nullptr;
  int64_t room = 1, last = offset, elements = 1;
  for (uint64_t i = 0; i < storage_count; i++) room *= storage[i];
  for (uint64_t i = 0; i < count; i++) {
    last += (dims[i] - 1) * strides[i];
    elements *= dims[i];
    if (strides[i] < 0) Blame("aclCreateTensor with a negative stride");
  }
  if (elements && (last >= room || offset < 0)) Blame("aclCreateTensor beyond its storage");
  auto* tensor = new Tensor{{dims, dims + count}, {strides, strides + count}, offset, type, format,
                            room, static_cast<char*>(data)};
  tensors.insert(tensor);
  return tensor;
}
ENTRY int32_t aclDestroyTensor(void* tensor) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!tensors.erase(tensor)) {
    Blame("aclDestroyTensor of no tensor");
    return kInvalidUse;
  }
  delete static_cast<Tensor*>(tensor);
  return 0;
}
ENTRY void* aclCreateScalar(void* value, int type) {
  std::lock_guard<std::mutex> lock(mutex);
  if (Enter("aclCreateScalar")) return nullptr;
  double number = 0;
  if (type == kFloat) number = *static_cast<float*>(value);
  else if (type == kInt32) number = *static_cast<int32_t*>(value);
  else if (type == kInt64) number = static_cast<double>(*static_cast<int64_t*>(value));
  else Blame("aclCreateScalar of a type that the stand-in has not");
  auto* scalar = new Scalar{number};
  scalars.insert(scalar);
  return scalar;
}
ENTRY int32_t aclDestroyScalar(void* scalar) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!scalars.erase(scalar)) {
    Blame("aclDestroyScalar of no scalar");
    return kInvalidUse;
  }
  delete static_cast<Scalar*>(scalar);
  return 0;
}

namespace {

template <typename V>
void* MakeArray(const char* name, const V* values, uint64_t count) {
  std::lock_guard<std::mutex> lock(mutex);
  if (Enter(name)) return nullptr;
  auto* made = new Ints{{values, values + count}};
  arrays.insert(made);
  return made;
}
int32_t DropArray(const char* name, void* array) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!arrays.erase(array)) {
    Blame(std::string(name) + " of no array");
    return kInvalidUse;
  }
  delete static_cast<Ints*>(array);
  return 0;
}

}  // namespace

ENTRY void* aclCreateIntArray(const int64_t* values, uint64_t count) {
  return MakeArray("aclCreateIntArray", values, count);
}
ENTRY int32_t aclDestroyIntArray(void* array) { return DropArray("aclDestroyIntArray", array); }
ENTRY void* aclCreateBoolArray(const bool* values, uint64_t count) {
  return MakeArray("aclCreateBoolArray", values, count);
}
ENTRY int32_t aclDestroyBoolArray(void* array) { return DropArray("aclDestroyBoolArray", array); }
ENTRY void* aclCreateTensorList(void* const* values, uint64_t count) {
  std::lock_guard<std::mutex> lock(mutex);
  if (Enter("aclCreateTensorList")) return nullptr;
  auto* list = new List;
  for (uint64_t i = 0; i < count; i++) {
    if (!tensors.count(values[i])) Blame("aclCreateTensorList of no tensor");
    list->tensors.push_back(static_cast<T>(values[i]));
  }
  lists.insert(list);
  return list;
}
// A list owns its tensors.
ENTRY int32_t aclDestroyTensorList(void* list) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!lists.erase(list)) {
    Blame("aclDestroyTensorList of no list");
    return kInvalidUse;
  }
  for (T tensor : static_cast<List*>(list)->tensors)
    if (tensors.erase(const_cast<Tensor*>(tensor))) delete tensor;
  delete static_cast<List*>(list);
  return 0;
}

namespace standin {

int64_t Tensor::Count() const {
  int64_t count = 1;
  for (int64_t d : dims) count *= d;
  return count;
}
int64_t Tensor::Place(int64_t index) const {
  int64_t at = offset;
  for (size_t i = dims.size(); i-- > 0;) {
    at += index % dims[i] * strides[i];
    index /= dims[i];
  }
  return at;
}
int64_t Tensor::Repeated(int64_t index, const std::vector<int64_t>& whole) const {
  int64_t at = offset;
  for (size_t i = whole.size(), j = dims.size(); i-- > 0;) {
    const int64_t of_axis = index % whole[i];
    index /= whole[i];
    if (!j) continue;
    j--;
    at += (dims[j] == 1 ? 0 : of_axis) * strides[j];
  }
  return at;
}
double Tensor::Get(int64_t at) const {
  switch (type) {
    case kFloat: return reinterpret_cast<float*>(data)[at];
    case kHalf: return float(reinterpret_cast<ascend::Half*>(data)[at]);
    case kBfloat: return float(reinterpret_cast<ascend::Bfloat16*>(data)[at]);
    case kInt8: return reinterpret_cast<int8_t*>(data)[at];
    case kInt16: return reinterpret_cast<int16_t*>(data)[at];
    case kInt32: return reinterpret_cast<int32_t*>(data)[at];
    case kInt64: return static_cast<double>(reinterpret_cast<int64_t*>(data)[at]);
    default: return reinterpret_cast<uint8_t*>(data)[at];
  }
}
void Tensor::Set(int64_t at, double value) const {
  switch (type) {
    case kFloat: reinterpret_cast<float*>(data)[at] = static_cast<float>(value); break;
    case kHalf: reinterpret_cast<ascend::Half*>(data)[at] = ascend::Half(float(value)); break;
    case kBfloat:
      reinterpret_cast<ascend::Bfloat16*>(data)[at] = ascend::Bfloat16(float(value));
      break;
    case kInt8: reinterpret_cast<int8_t*>(data)[at] = static_cast<int8_t>(value); break;
    case kInt16: reinterpret_cast<int16_t*>(data)[at] = static_cast<int16_t>(value); break;
    case kInt32: reinterpret_cast<int32_t*>(data)[at] = static_cast<int32_t>(value); break;
    case kInt64: reinterpret_cast<int64_t*>(data)[at] = static_cast<int64_t>(value); break;
    case kBool: data[at] = value != 0; break;
    default: reinterpret_cast<uint8_t*>(data)[at] = static_cast<uint8_t>(value); break;
  }
}

bool Repeats(const Tensor& tensor, const std::vector<int64_t>& whole) {
  if (tensor.dims.size() > whole.size()) return false;
  for (size_t i = 0; i < tensor.dims.size(); i++) {
    const int64_t of_whole = whole[whole.size() - tensor.dims.size() + i];
    if (tensor.dims[i] != 1 && tensor.dims[i] != of_whole) return false;
  }
  return true;
}

namespace {

size_t Size(int type) {
  switch (type) {
    case kFloat: case kInt32: return 4;
    case kHalf: case kBfloat: case kInt16: return 2;
    case kInt64: return 8;
    default: return 1;
  }
}

}  // namespace

int32_t First(const char* name, const Checked& checked, bool fits, std::function<void()> run,
              uint64_t* workspace, void** executor) {
  std::lock_guard<std::mutex> lock(mutex);
  if (int32_t error = Enter(std::string(name) + "GetWorkspaceSize")) return error;
  for (const auto* list : {&checked.read, &checked.written})
    for (T tensor : *list) {
      if (!tensors.count(const_cast<Tensor*>(tensor))) {
        Blame(std::string(name) + " of no tensor");
        return kInvalidUse;
      }
      if (!checked.types.empty() && !checked.types.count(tensor->type)) {
        recent = std::string(name) + " of a type that it has not";
        return kInvalidArgument;
      }
      if (!kAll.count(tensor->type)) {
        recent = std::string(name) + " of a type that the stand-in has not";
        return kInvalidArgument;
      }
      if (tensor->room) OnDevice(tensor->data, Size(tensor->type) * tensor->room, current, name);
    }
  if (!fits) {
    Blame(std::string(name) + " of arrays that do not fit");
    return kInvalidArgument;
  }
  auto* made = new Executor{std::move(run), 64, name};
  executors[made] = made;
  *workspace = made->workspace;
  *executor = made;
  return 0;
}

int32_t Second(const char* name, void* workspace, uint64_t bytes, void* executor, void* stream) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = executors.find(executor);
  if (found == executors.end()) {
    Blame(std::string(name) + " without its GetWorkspaceSize");
    return kInvalidUse;
  }
  Executor* made = found->second;
  executors.erase(found);
  std::function<void()> run = made->run;
  if (made->name != name) Blame(std::string(name) + " with an executor of " + made->name);
  if (bytes < made->workspace) Blame(std::string(name) + " with too small a workspace");
  delete made;
  if (int32_t error = Enter(name)) return error;
  OnDevice(workspace, bytes, current, name);
  if (!streams.count(stream)) {
    Blame(std::string(name) + " on no stream");
    return kInvalidUse;
  }
  if (static_cast<Stream*>(stream)->device != current)
    Blame(std::string(name) + " on another device's stream");
  static_cast<Stream*>(stream)->queue.push_back(std::move(run));
  return 0;
}

}  // namespace standin
