// The driver of an NPU: CANN's runtime (libascendcl) and operators (libopapi), by their documented
// entry points. It has run against the stand-in of src/standin only, never on an NPU.
#include <dlfcn.h>

#include <map>
#include <mutex>

#include "../pjrt/failure.h"
#include "driver.h"

namespace ascend {
namespace {

typedef int32_t Status;  // aclError, aclnnStatus
typedef void* Stream_;   // aclrtStream
typedef void* Executor;  // aclOpExecutor*
typedef void* Tensor;    // aclTensor*
typedef void* Scalar;    // aclScalar*

constexpr Status kOutOfMemory = 207001, kLostHeartbeat = 507010;
constexpr int kHighBandwidth = 1;                       // aclrtMemAttr
constexpr int kHugeFirst = 0;                           // aclrtMemMallocPolicy
constexpr int kHostToDevice = 1, kDeviceToHost = 2, kDeviceToDevice = 3;  // aclrtMemcpyKind
constexpr int kFormatNd = 2;                            // aclFormat
constexpr int kFloat = 0;                               // aclDataType

// aclDataType of an element type, -1 for none.
int DataType(int type) {
  switch (type) {
    case PJRT_Buffer_Type_F32: return kFloat;
    case PJRT_Buffer_Type_F16: return 1;
    case PJRT_Buffer_Type_S8: return 2;
    case PJRT_Buffer_Type_S32: return 3;
    case PJRT_Buffer_Type_U8: return 4;
    case PJRT_Buffer_Type_S64: return 9;
    case PJRT_Buffer_Type_F64: return 11;
    case PJRT_Buffer_Type_PRED: return 12;
    case PJRT_Buffer_Type_BF16: return 27;
    default: return -1;
  }
}

class Library {
 public:
  explicit Library(const std::string& path) : path_(path) {
    handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!handle_)
      throw Failure(PJRT_Error_Code_NOT_FOUND,
                    std::string("ascend: CANN's library cannot be loaded: ") + dlerror() +
                        ". Install CANN and source its set_env.sh, or choose the driver 'sim'");
  }
  template <typename F>
  void Find(const char* name, F*& function) const {
    function = reinterpret_cast<F*>(dlsym(handle_, name));
    if (!function)
      throw Failure(PJRT_Error_Code_UNIMPLEMENTED,
                    "ascend: " + path_ + " has no " + name + ": this CANN is too old");
  }
  void* Maybe(const std::string& name) const { return dlsym(handle_, name.c_str()); }

 private:
  std::string path_;
  void* handle_;
};

// The arguments that an operator takes between its tensors and the result.
enum class Form { kUnary, kBinary, kBinaryWithScale, kMatmul };

const std::map<std::string, Form>& Forms() {
  static const std::map<std::string, Form> forms = {
      {"aclnnAdd", Form::kBinaryWithScale},
      {"aclnnSub", Form::kBinaryWithScale},
      {"aclnnMul", Form::kBinary},
      {"aclnnDiv", Form::kBinary},
      {"aclnnMaximum", Form::kBinary},
      {"aclnnMinimum", Form::kBinary},
      {"aclnnPowTensorTensor", Form::kBinary},
      {"aclnnExp", Form::kUnary},
      {"aclnnExpm1", Form::kUnary},
      {"aclnnLog", Form::kUnary},
      {"aclnnLog1p", Form::kUnary},
      {"aclnnNeg", Form::kUnary},
      {"aclnnTanh", Form::kUnary},
      {"aclnnSin", Form::kUnary},
      {"aclnnCos", Form::kUnary},
      {"aclnnFloor", Form::kUnary},
      {"aclnnCeil", Form::kUnary},
      {"aclnnSqrt", Form::kUnary},
      {"aclnnRsqrt", Form::kUnary},
      {"aclnnAbs", Form::kUnary},
      {"aclnnMatmul", Form::kMatmul},
      {"aclnnBatchMatMul", Form::kMatmul},
  };
  return forms;
}

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

  bool Launch(int device, const std::string& op, const std::vector<Operand>& inputs,
              const std::vector<Operand>& outputs) override {
    auto form = Forms().find(op);
    if (form == Forms().end()) return false;
    void* sizes = operators_.Maybe(op + "GetWorkspaceSize");
    void* launch = operators_.Maybe(op);
    if (!sizes || !launch) return false;
    for (const auto* list : {&inputs, &outputs})
      for (const Operand& operand : *list)
        if (DataType(operand.type) < 0) return false;
    Use(device);
    Device& own = *devices_[device];
    std::vector<Tensor> tensors;
    for (const auto* list : {&inputs, &outputs})
      for (const Operand& operand : *list) tensors.push_back(MakeTensor(own, operand));
    uint64_t bytes = 0;
    Executor executor = nullptr;
    Status status = 0;
    switch (form->second) {
      case Form::kUnary:
        status = reinterpret_cast<Status (*)(Tensor, Tensor, uint64_t*, Executor*)>(sizes)(
            tensors[0], tensors[1], &bytes, &executor);
        break;
      case Form::kBinary:
        status = reinterpret_cast<Status (*)(Tensor, Tensor, Tensor, uint64_t*, Executor*)>(sizes)(
            tensors[0], tensors[1], tensors[2], &bytes, &executor);
        break;
      case Form::kBinaryWithScale: {
        float one = 1.0f;
        Scalar scale = create_scalar_(&one, kFloat);
        if (!scale) throw Internal("ascend: aclCreateScalar failed" + Recent());
        own.scalars.push_back(scale);
        status = reinterpret_cast<Status (*)(Tensor, Tensor, Scalar, Tensor, uint64_t*, Executor*)>(
            sizes)(tensors[0], tensors[1], scale, tensors[2], &bytes, &executor);
        break;
      }
      case Form::kMatmul:
        // The last number keeps the operands' precision (KEEP_DTYPE).
        status = reinterpret_cast<Status (*)(Tensor, Tensor, Tensor, int8_t, uint64_t*, Executor*)>(
            sizes)(tensors[0], tensors[1], tensors[2], 0, &bytes, &executor);
        break;
    }
    Check(status, (op + "GetWorkspaceSize").c_str());
    void* workspace = nullptr;
    if (bytes) {
      workspace = Allocate(device, bytes);
      own.workspaces.push_back(workspace);
    }
    Check(reinterpret_cast<Status (*)(void*, uint64_t, Executor, Stream_)>(launch)(
              workspace, bytes, executor, own.stream),
          op.c_str());
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
    std::vector<Scalar> scalars;
    std::vector<void*> workspaces;
  };
  Tensor MakeTensor(Device& own, const Operand& operand) {
    const auto& dims = *operand.dims;
    std::vector<int64_t> strides(dims.size(), 1);
    for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
    Tensor tensor =
        create_tensor_(dims.data(), dims.size(), DataType(operand.type), strides.data(), 0,
                       kFormatNd, dims.data(), dims.size(), operand.data);
    if (!tensor) throw Internal("ascend: aclCreateTensor failed" + Recent());
    own.tensors.push_back(tensor);
    return tensor;
  }
  void Drop(int device) {
    Device& own = *devices_[device];
    for (Tensor tensor : own.tensors) destroy_tensor_(tensor);
    for (Scalar scalar : own.scalars) destroy_scalar_(scalar);
    for (void* workspace : own.workspaces) Free(device, workspace);
    own.tensors.clear();
    own.scalars.clear();
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
};

}  // namespace

std::unique_ptr<Driver> MakeAcl(const DriverOptions& options) {
  return std::make_unique<Acl>(options);
}

}  // namespace ascend
