// A stand-in for CANN's libascendcl and libopapi, for tests without an NPU: the entry points that the
// driver `acl` uses, on the host's memory. It checks the order of calls, what is released twice or
// never, and memory that belongs elsewhere; and it fails where it is told to. It is no CANN, and what
// passes here is no proof for an NPU.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#define ENTRY extern "C" __attribute__((visibility("default")))

namespace {

constexpr int kDevices = 2;
constexpr size_t kMemory = size_t(1) << 30;
constexpr int32_t kInvalidUse = 107000, kOutOfMemory = 207001;

struct Tensor {
  std::vector<int64_t> dims;
  int type;
  float* data;
};
struct Stream {
  int device;
  std::vector<std::function<void()>> queue;
};
struct Executor {
  std::function<void()> run;
  uint64_t workspace;
  std::string name;
};

std::mutex mutex;
bool ready = false;
std::map<char*, std::pair<size_t, int>> memory;  // size and device
std::set<void*> streams, tensors, scalars;
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

void Blame(const std::string& text) {
  misuse += text + "\n";
  recent = text;
}

// Counts a call, and gives the error that was planned for it.
int32_t Enter(const char* name, bool needs_ready = true) {
  const int64_t number = calls[name]++;
  if (needs_ready && !ready) {
    Blame(std::string(name) + " outside aclInit and aclFinalize");
    return kInvalidUse;
  }
  auto plan = plans.find(name);
  if (plan != plans.end() && (plan->second.call == number || plan->second.call < 0)) {
    recent = std::string("stand-in: planned failure of ") + name;
    return plan->second.code;
  }
  return 0;
}

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

ENTRY void* aclCreateTensor(const int64_t* dims, uint64_t count, int type, const int64_t*, int64_t,
                            int, const int64_t*, uint64_t, void* data) {
  std::lock_guard<std::mutex> lock(mutex);
  if (Enter("aclCreateTensor")) return nullptr;
  auto* tensor = new Tensor{{dims, dims + count}, type, static_cast<float*>(data)};
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
ENTRY void* aclCreateScalar(void* value, int) {
  std::lock_guard<std::mutex> lock(mutex);
  if (Enter("aclCreateScalar")) return nullptr;
  auto* scalar = new float(*static_cast<float*>(value));
  scalars.insert(scalar);
  return scalar;
}
ENTRY int32_t aclDestroyScalar(void* scalar) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!scalars.erase(scalar)) {
    Blame("aclDestroyScalar of no scalar");
    return kInvalidUse;
  }
  delete static_cast<float*>(scalar);
  return 0;
}

namespace {

int64_t Count(const Tensor& tensor) {
  int64_t count = 1;
  for (int64_t d : tensor.dims) count *= d;
  return count;
}

int32_t Plan_(const char* name, std::vector<const Tensor*> used_tensors, std::function<void()> run,
              uint64_t* workspace, void** executor) {
  std::lock_guard<std::mutex> lock(mutex);
  if (int32_t error = Enter((std::string(name) + "GetWorkspaceSize").c_str())) return error;
  for (const Tensor* tensor : used_tensors) {
    if (!tensors.count(const_cast<Tensor*>(tensor))) {
      Blame(std::string(name) + " of no tensor");
      return kInvalidUse;
    }
    if (tensor->type != 0) {
      Blame(std::string(name) + " of another type than float");
      return kInvalidUse;
    }
    OnDevice(tensor->data, 4 * Count(*tensor), current, name);
  }
  auto* made = new Executor{std::move(run), 64, name};
  executors[made] = made;
  *workspace = made->workspace;
  *executor = made;
  return 0;
}

int32_t Launch(const char* name, void* workspace, uint64_t bytes, void* executor, void* stream) {
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

template <typename F>
int32_t Unary(const char* name, void* self, void* out, uint64_t* workspace, void** executor, F f) {
  auto *x = static_cast<Tensor*>(self), *r = static_cast<Tensor*>(out);
  return Plan_(name, {x, r}, [x, r, f] {
    for (int64_t i = 0; i < Count(*r); i++) r->data[i] = f(x->data[i]);
  }, workspace, executor);
}
template <typename F>
int32_t Binary(const char* name, void* self, void* other, void* out, uint64_t* workspace,
               void** executor, F f) {
  auto *x = static_cast<Tensor*>(self), *y = static_cast<Tensor*>(other),
       *r = static_cast<Tensor*>(out);
  return Plan_(name, {x, y, r}, [x, y, r, f] {
    for (int64_t i = 0; i < Count(*r); i++) r->data[i] = f(x->data[i], y->data[i]);
  }, workspace, executor);
}

}  // namespace

#define LAUNCH(name)                                                                          \
  ENTRY int32_t name(void* workspace, uint64_t bytes, void* executor, void* stream) {         \
    return Launch(#name, workspace, bytes, executor, stream);                                 \
  }
#define UNARY(name, expression)                                                               \
  ENTRY int32_t name##GetWorkspaceSize(void* self, void* out, uint64_t* bytes, void** made) { \
    return Unary(#name, self, out, bytes, made, [](float x) { return expression; });          \
  }                                                                                           \
  LAUNCH(name)
#define BINARY(name, expression)                                                              \
  ENTRY int32_t name##GetWorkspaceSize(void* self, void* other, void* out, uint64_t* bytes,   \
                                       void** made) {                                         \
    return Binary(#name, self, other, out, bytes, made,                                       \
                  [](float x, float y) { return expression; });                               \
  }                                                                                           \
  LAUNCH(name)
#define SCALED(name, operation)                                                               \
  ENTRY int32_t name##GetWorkspaceSize(void* self, void* other, void* alpha, void* out,       \
                                       uint64_t* bytes, void** made) {                        \
    const float scale = *static_cast<float*>(alpha);                                          \
    return Binary(#name, self, other, out, bytes, made,                                       \
                  [scale](float x, float y) { return x operation scale * y; });               \
  }                                                                                           \
  LAUNCH(name)

SCALED(aclnnAdd, +)
SCALED(aclnnSub, -)
BINARY(aclnnMul, x* y)
BINARY(aclnnDiv, x / y)
BINARY(aclnnMaximum, std::fmax(x, y))
BINARY(aclnnMinimum, std::fmin(x, y))
UNARY(aclnnExp, std::exp(x))
UNARY(aclnnLog, std::log(x))
UNARY(aclnnNeg, -x)
UNARY(aclnnTanh, std::tanh(x))
UNARY(aclnnSqrt, std::sqrt(x))
UNARY(aclnnRsqrt, 1 / std::sqrt(x))
UNARY(aclnnAbs, std::fabs(x))
UNARY(aclnnExpm1, std::expm1(x))
UNARY(aclnnLog1p, std::log1p(x))
UNARY(aclnnSin, std::sin(x))
UNARY(aclnnCos, std::cos(x))
UNARY(aclnnFloor, std::floor(x))
UNARY(aclnnCeil, std::ceil(x))
BINARY(aclnnPowTensorTensor, std::pow(x, y))

namespace {

// Matrices, or as many of them as the first dimension says.
int32_t Multiply(const char* name, size_t rank, void* self, void* other, void* out,
                 uint64_t* bytes, void** made) {
  auto *a = static_cast<Tensor*>(self), *b = static_cast<Tensor*>(other),
       *c = static_cast<Tensor*>(out);
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (a->dims.size() != rank || b->dims.size() != rank) {
      Blame(std::string(name) + " of tensors of another rank");
      return kInvalidUse;
    }
  }
  return Plan_(name, {a, b, c}, [a, b, c, rank] {
    const int64_t batch = rank == 3 ? a->dims[0] : 1;
    const int64_t m = a->dims[rank - 2], k = a->dims[rank - 1], n = b->dims[rank - 1];
    for (int64_t r = 0; r < batch * m; r++)
      for (int64_t j = 0; j < n; j++) {
        float sum = 0;
        for (int64_t l = 0; l < k; l++)
          sum += a->data[r * k + l] * b->data[(r / m * k + l) * n + j];
        c->data[r * n + j] = sum;
      }
  }, bytes, made);
}

}  // namespace

ENTRY int32_t aclnnMatmulGetWorkspaceSize(void* self, void* other, void* out, int8_t,
                                          uint64_t* bytes, void** made) {
  return Multiply("aclnnMatmul", 2, self, other, out, bytes, made);
}
LAUNCH(aclnnMatmul)
ENTRY int32_t aclnnBatchMatMulGetWorkspaceSize(void* self, void* other, void* out, int8_t,
                                               uint64_t* bytes, void** made) {
  return Multiply("aclnnBatchMatMul", 3, self, other, out, bytes, made);
}
LAUNCH(aclnnBatchMatMul)
