// The driver of an NPU: CANN's runtime (libascendcl) and operators (libopapi and its successors), by
// their documented entry points. It has run against the stand-in of src/standin only, never on an NPU.
#include <dlfcn.h>

#include <array>
#include <list>
#include <map>
#include <mutex>
#include <sstream>

#include "../pjrt/failure.h"
#include "../pjrt/types.h"
#include "driver.h"

namespace ascend {
namespace {

typedef int32_t Status;  // aclError, aclnnStatus
typedef void* Stream_;   // aclrtStream
typedef void* Executor;  // aclOpExecutor*
typedef void* Tensor;    // aclTensor*
typedef void* Scalar;    // aclScalar*
typedef void* Array;     // aclIntArray*, aclBoolArray*
typedef void* List;      // aclTensorList*

constexpr Status kOutOfMemory = 207001, kLostHeartbeat = 507010;
constexpr int kHighBandwidth = 1;                       // aclrtMemAttr
constexpr int kHugeFirst = 0;                           // aclrtMemMallocPolicy
constexpr int kHostToDevice = 1, kDeviceToHost = 2, kDeviceToDevice = 3;  // aclrtMemcpyKind

// aclDataType of an element type, -1 for none.
int DataType(int type) {
  switch (type) {
    case PJRT_Buffer_Type_F32: return 0;
    case PJRT_Buffer_Type_F16: return 1;
    case PJRT_Buffer_Type_S8: return 2;
    case PJRT_Buffer_Type_S32: return 3;
    case PJRT_Buffer_Type_U8: return 4;
    case PJRT_Buffer_Type_S16: return 6;
    case PJRT_Buffer_Type_U16: return 7;
    case PJRT_Buffer_Type_U32: return 8;
    case PJRT_Buffer_Type_S64: return 9;
    case PJRT_Buffer_Type_U64: return 10;
    case PJRT_Buffer_Type_F64: return 11;
    case PJRT_Buffer_Type_PRED: return 12;
    case PJRT_Buffer_Type_BF16: return 27;
    default: return -1;
  }
}

// One or several libraries, searched in order.
class Library {
 public:
  explicit Library(const std::string& paths) : paths_(paths) {
    std::istringstream list(paths);
    for (std::string path, error; std::getline(list, path, ':');)
      if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL)) handles_.push_back(handle);
      else if (error_.empty()) error_ = dlerror();
    if (handles_.empty())
      throw Failure(PJRT_Error_Code_NOT_FOUND,
                    "ascend: CANN's library cannot be loaded: " + error_ +
                        ". Install CANN and source its set_env.sh, or choose the driver 'sim'");
  }
  template <typename F>
  void Find(const char* name, F*& function) const {
    function = reinterpret_cast<F*>(Maybe(name));
    if (!function)
      throw Failure(PJRT_Error_Code_UNIMPLEMENTED,
                    "ascend: " + paths_ + " has no " + name + ": this CANN is too old");
  }
  void* Maybe(const std::string& name) const {
    for (void* handle : handles_)
      if (void* found = dlsym(handle, name.c_str())) return found;
    return nullptr;
  }

 private:
  std::string paths_, error_;
  std::vector<void*> handles_;
};

// Arguments of a first phase. Both processors that CANN runs on, x86-64 and AArch64, pass numbers and
// addresses apart from floating numbers, each in order, and callees do not see what they do not take;
// so one type of function stands for all.
class Arguments {
 public:
  void Add(int64_t word) {
    if (count_ == words_.size()) throw Internal("ascend: an operator with too many arguments");
    words_[count_++] = word;
  }
  void Add(void* address) { Add(static_cast<int64_t>(reinterpret_cast<uintptr_t>(address))); }
  void Add(double real) {
    if (real_count_ == reals_.size()) throw Internal("ascend: an operator with too many numbers");
    reals_[real_count_++] = real;
  }
  Status Call(void* function) const { return Call(function, std::make_index_sequence<40>()); }

 private:
  template <size_t... I>
  Status Call(void* function, std::index_sequence<I...>) const {
    typedef Status (*Function)(decltype(int64_t(I))..., double, double, double, double);
    return reinterpret_cast<Function>(function)(words_[I]..., reals_[0], reals_[1], reals_[2],
                                                reals_[3]);
  }
  std::array<int64_t, 40> words_{};
  std::array<double, 4> reals_{};
  size_t count_ = 0, real_count_ = 0;
};

// Whether a first phase says that the operator is not for such arguments: of a type that the device
// has not, of a form, without a kernel. Nothing has run then.
bool Refuses(Status status) {
  return (status >= 161000 && status < 162000) || (status >= 561000 && status < 562000);
}

std::mutex refused_mutex;
std::map<std::string, std::string>* refused = new std::map<std::string, std::string>;

class Acl : public Driver {
 public:
  explicit Acl(const DriverOptions& options)
      : runtime_(options.acl_library), operators_(options.opapi_library) {
    runtime_.Find("aclInit", init_);
    runtime_.Find("aclFinalize", finalize_);
    runtime_.Find("aclGetRecentErrMsg", message_);
    runtime_.Find("aclrtGetDeviceCount", count_);
    runtime_.Find("aclrtSetDevice", set_device_);
    runtime_.Find("aclrtResetDevice", reset_device_);
    runtime_.Find("aclrtGetSocName", soc_name_);
    runtime_.Find("aclrtGetMemInfo", memory_info_);
    runtime_.Find("aclrtMalloc", malloc_);
    runtime_.Find("aclrtFree", free_);
    runtime_.Find("aclrtMemcpy", memcpy_);
    runtime_.Find("aclrtCreateStream", create_stream_);
    runtime_.Find("aclrtDestroyStream", destroy_stream_);
    runtime_.Find("aclrtSynchronizeStream", synchronize_);
    operators_.Find("aclCreateTensor", create_tensor_);
    operators_.Find("aclDestroyTensor", destroy_tensor_);
    operators_.Find("aclCreateScalar", create_scalar_);
    operators_.Find("aclDestroyScalar", destroy_scalar_);
    operators_.Find("aclCreateIntArray", create_ints_);
    operators_.Find("aclDestroyIntArray", destroy_ints_);
    operators_.Find("aclCreateBoolArray", create_bools_);
    operators_.Find("aclDestroyBoolArray", destroy_bools_);
    operators_.Find("aclCreateTensorList", create_list_);
    operators_.Find("aclDestroyTensorList", destroy_list_);
    Check(init_(nullptr), "aclInit");
    try {
      uint32_t count = 0;
      Check(count_(&count), "aclrtGetDeviceCount");
      if (!count)
        throw Failure(PJRT_Error_Code_NOT_FOUND, "ascend: CANN finds no device: see npu-smi info");
      for (uint32_t i = 0; i < count; i++) {
        Check(set_device_(static_cast<int32_t>(i)), "aclrtSetDevice");
        devices_.emplace_back(new Device);
        size_t free = 0, total = 0;
        Check(memory_info_(kHighBandwidth, &free, &total), "aclrtGetMemInfo");
        devices_.back()->limit = static_cast<int64_t>(total);
        Check(create_stream_(&devices_.back()->stream), "aclrtCreateStream");
      }
    } catch (...) {
      Close();
      throw;
    }
  }
  ~Acl() override { Close(); }
  const char* name() const override { return "acl"; }
  int device_count() const override { return static_cast<int>(devices_.size()); }
  bool host_visible() const override { return false; }
  std::string kind(int) const override {
    const char* name = soc_name_();
    return name ? name : "Ascend";
  }
  int64_t memory_limit(int device) const override { return devices_[device]->limit; }

  void* Allocate(int device, size_t bytes) override {
    Use(device);
    void* data = nullptr;
    Check(malloc_(&data, bytes ? bytes : 1, kHugeFirst), "aclrtMalloc");
    return data;
  }
  void Free(int device, void* data) noexcept override {
    // An error here has nobody to go to; the stand-in reports such.
    if (!set_device_(device)) free_(data);
  }
  void ToDevice(int device, void* to, const void* from, size_t bytes) override {
    Use(device);
    Check(memcpy_(to, bytes, from, bytes, kHostToDevice), "aclrtMemcpy");
  }
  void ToHost(int device, void* to, const void* from, size_t bytes) override {
    Use(device);
    Check(memcpy_(to, bytes, from, bytes, kDeviceToHost), "aclrtMemcpy");
  }
  void Within(int device, void* to, const void* from, size_t bytes) override {
    Use(device);
    Check(memcpy_(to, bytes, from, bytes, kDeviceToDevice), "aclrtMemcpy");
  }

  bool Launch(int device, const std::vector<OperatorCall>& calls,
              const std::vector<Operand>& operands) override {
    for (const Operand& operand : operands)
      if (DataType(operand.type) < 0) return false;
    for (const OperatorCall& call : calls)
      if (!operators_.Maybe(call.name + "GetWorkspaceSize") || !operators_.Maybe(call.name))
        return false;
    Use(device);
    Device& own = *devices_[device];
    std::map<int64_t, Operand> room;  // arrays for this step alone
    std::list<std::vector<int64_t>> dims;
    for (const OperatorCall& call : calls)
      for (const Argument& argument : call.arguments)
        if (argument.kind == 'w' && argument.type >= 0) {
          void* data = Allocate(device, Bytes(argument.type, argument.list));
          own.workspaces.push_back(data);
          dims.push_back(argument.list);
          room[argument.number] = {data, argument.type, &dims.back()};
        }
    for (const OperatorCall& call : calls)
      if (!Launch(device, call, operands, room)) return false;
    return true;
  }

  // What the operators in the stream use is freed after they have run.
  void Synchronize(int device) override {
    Device& own = *devices_[device];
    Use(device);
    const Status status = synchronize_(own.stream);
    Drop(device);
    Check(status, "aclrtSynchronizeStream");
  }

 private:
  struct Device {
    Stream_ stream = nullptr;
    int64_t limit = 0;
    std::vector<Tensor> tensors;
    std::vector<List> lists;
    std::vector<Scalar> scalars;
    std::vector<Array> ints, bools;
    std::vector<void*> workspaces;
  };
  bool Launch(int device, const OperatorCall& call, const std::vector<Operand>& operands,
              const std::map<int64_t, Operand>& room) {
    Device& own = *devices_[device];
    Arguments arguments;
    for (const Argument& argument : call.arguments) Add(own, argument, operands, room, arguments);
    uint64_t bytes = 0;
    Executor executor = nullptr;
    arguments.Add(static_cast<void*>(&bytes));
    arguments.Add(static_cast<void*>(&executor));
    const Status status = arguments.Call(operators_.Maybe(call.name + "GetWorkspaceSize"));
    if (Refuses(status)) {
      std::lock_guard<std::mutex> lock(refused_mutex);
      refused->emplace(call.name, std::to_string(status) + Recent());
      return false;
    }
    Check(status, (call.name + "GetWorkspaceSize").c_str());
    void* workspace = nullptr;
    if (bytes) {
      workspace = Allocate(device, bytes);
      own.workspaces.push_back(workspace);
    }
    Check(reinterpret_cast<Status (*)(void*, uint64_t, Executor, Stream_)>(
              operators_.Maybe(call.name))(workspace, bytes, executor, own.stream),
          call.name.c_str());
    return true;
  }

  void Add(Device& own, const Argument& argument, const std::vector<Operand>& operands,
           const std::map<int64_t, Operand>& room, Arguments& to) {
    switch (argument.kind) {
      case 't':
      case 'x':
        own.tensors.push_back(MakeTensor(argument, operands[argument.number]));
        return to.Add(own.tensors.back());
      case 'w':
        own.tensors.push_back(MakeTensor(argument, room.at(argument.number)));
        return to.Add(own.tensors.back());
      case 'l': {
        Tensor tensor = MakeTensor(argument, operands[argument.number]);
        List list = create_list_(&tensor, 1);
        if (!list) {
          destroy_tensor_(tensor);
          throw Internal("ascend: aclCreateTensorList failed" + Recent());
        }
        own.lists.push_back(list);  // it destroys its tensors
        return to.Add(list);
      }
      case 's':
        own.scalars.push_back(MakeScalar(argument));
        return to.Add(own.scalars.back());
      case 'i':
        return to.Add(argument.number);
      case 'd':
        return to.Add(argument.real);
      case 'I': {
        Array made = create_ints_(argument.list.data(), argument.list.size());
        if (!made) throw Internal("ascend: aclCreateIntArray failed" + Recent());
        own.ints.push_back(made);
        return to.Add(made);
      }
      case 'B': {
        std::unique_ptr<bool[]> values(new bool[argument.list.size() + 1]);
        for (size_t i = 0; i < argument.list.size(); i++) values[i] = argument.list[i];
        Array made = create_bools_(values.get(), argument.list.size());
        if (!made) throw Internal("ascend: aclCreateBoolArray failed" + Recent());
        own.bools.push_back(made);
        return to.Add(made);
      }
      case 'c':
        return to.Add(static_cast<void*>(const_cast<char*>(argument.text.c_str())));
      default:
        return to.Add(static_cast<void*>(nullptr));
    }
  }

  Tensor MakeTensor(const Argument& argument, const Operand& operand) {
    const auto& whole = *operand.dims;
    std::vector<int64_t> strides(whole.size(), 1);
    for (size_t i = whole.size(); i-- > 1;) strides[i - 1] = strides[i] * whole[i];
    const bool viewed = argument.viewed && argument.type < 0;
    const auto& dims = viewed ? argument.list : whole;
    const auto& steps = viewed ? argument.strides : strides;
    // A view that is dense is an array of its own form; another lies in a row of all elements.
    const int64_t count = Elements(whole);
    const bool dense = !viewed || (Elements(dims) == count && IsDense(dims, steps));
    Tensor tensor = create_tensor_(dims.data(), dims.size(), DataType(operand.type), steps.data(),
                                   viewed ? argument.offset : 0, argument.format,
                                   dense ? dims.data() : &count, dense ? dims.size() : 1,
                                   operand.data);
    if (!tensor) throw Internal("ascend: aclCreateTensor failed" + Recent());
    return tensor;
  }

  static bool IsDense(const std::vector<int64_t>& dims, const std::vector<int64_t>& strides) {
    int64_t next = 1;
    for (size_t i = dims.size(); i-- > 0;) {
      if (dims[i] != 1 && strides[i] != next) return false;
      next *= dims[i];
    }
    return true;
  }

  Scalar MakeScalar(const Argument& argument) {
    float single = static_cast<float>(argument.real);
    int32_t small = static_cast<int32_t>(argument.real);
    int64_t large = static_cast<int64_t>(argument.real);
    void* value = &single;
    int type = PJRT_Buffer_Type_F32;
    if (argument.type == PJRT_Buffer_Type_S32) {
      value = &small;
      type = argument.type;
    } else if (argument.type == PJRT_Buffer_Type_S64) {
      value = &large;
      type = argument.type;
    }
    Scalar scalar = create_scalar_(value, DataType(type));
    if (!scalar) throw Internal("ascend: aclCreateScalar failed" + Recent());
    return scalar;
  }

  void Drop(int device) {
    Device& own = *devices_[device];
    for (Tensor tensor : own.tensors) destroy_tensor_(tensor);
    for (List list : own.lists) destroy_list_(list);
    for (Scalar scalar : own.scalars) destroy_scalar_(scalar);
    for (Array made : own.ints) destroy_ints_(made);
    for (Array made : own.bools) destroy_bools_(made);
    for (void* workspace : own.workspaces) Free(device, workspace);
    own.tensors.clear();
    own.lists.clear();
    own.scalars.clear();
    own.ints.clear();
    own.bools.clear();
    own.workspaces.clear();
  }
  void Use(int device) { Check(set_device_(device), "aclrtSetDevice"); }
  std::string Recent() const {
    const char* text = message_();
    return text && *text ? std::string(": ") + text : "";
  }
  void Check(Status status, const char* what) const {
    if (!status) return;
    const PJRT_Error_Code code = status == kOutOfMemory     ? PJRT_Error_Code_RESOURCE_EXHAUSTED
                                 : status == kLostHeartbeat ? PJRT_Error_Code_UNAVAILABLE
                                                            : PJRT_Error_Code_INTERNAL;
    throw Failure(code, std::string("ascend: ") + what + " failed with " +
                            std::to_string(status) + Recent());
  }
  void Close() noexcept {
    for (size_t i = 0; i < devices_.size(); i++) {
      if (set_device_(static_cast<int32_t>(i))) continue;
      if (devices_[i]->stream) {
        synchronize_(devices_[i]->stream);
        Drop(static_cast<int>(i));
        destroy_stream_(devices_[i]->stream);
      }
      reset_device_(static_cast<int32_t>(i));
    }
    devices_.clear();
    finalize_();
  }

  Library runtime_, operators_;
  std::vector<std::unique_ptr<Device>> devices_;
  Status (*init_)(const char*);
  Status (*finalize_)();
  const char* (*message_)();
  Status (*count_)(uint32_t*);
  Status (*set_device_)(int32_t);
  Status (*reset_device_)(int32_t);
  const char* (*soc_name_)();
  Status (*memory_info_)(int, size_t*, size_t*);
  Status (*malloc_)(void**, size_t, int);
  Status (*free_)(void*);
  Status (*memcpy_)(void*, size_t, const void*, size_t, int);
  Status (*create_stream_)(Stream_*);
  Status (*destroy_stream_)(Stream_);
  Status (*synchronize_)(Stream_);
  Tensor (*create_tensor_)(const int64_t*, uint64_t, int, const int64_t*, int64_t, int,
                           const int64_t*, uint64_t, void*);
  Status (*destroy_tensor_)(Tensor);
  Scalar (*create_scalar_)(void*, int);
  Status (*destroy_scalar_)(Scalar);
  Array (*create_ints_)(const int64_t*, uint64_t);
  Status (*destroy_ints_)(Array);
  Array (*create_bools_)(const bool*, uint64_t);
  Status (*destroy_bools_)(Array);
  List (*create_list_)(const Tensor*, uint64_t);
  Status (*destroy_list_)(List);
};

}  // namespace

std::unique_ptr<Driver> MakeAcl(const DriverOptions& options) {
  return std::make_unique<Acl>(options);
}

}  // namespace ascend

// Operators that refused their arguments, whose steps then ran on the host: a line each.
extern "C" __attribute__((visibility("default"))) const char* ascend_refused() {
  static std::string text;
  std::lock_guard<std::mutex> lock(ascend::refused_mutex);
  text.clear();
  for (const auto& [name, why] : *ascend::refused) text += name + " (" + why + ")\n";
  return text.c_str();
}
