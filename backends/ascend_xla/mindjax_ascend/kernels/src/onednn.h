// The part of oneDNN's C interface that the kernels call, found in a library at run time: nothing
// of oneDNN is needed to compile them. The declarations are those of version 3.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <string>

namespace onednn {

using Handle = void*;  // of an engine, a stream, a description, a primitive or an array

enum Status : int { kSuccess = 0 };
enum EngineKind : int { kCpu = 1 };
enum Type : int { kFloat16 = 1, kBfloat16 = 2, kFloat32 = 3 };
enum Tag : int { kAny = 1 };
enum Pass : int { kForwardTraining = 64 };
enum Algorithm : int { kDirect = 1 };
enum ScratchpadMode : int { kUser = 1 };
enum Query : int {
  kImplementation = 8,
  kSource = 129,
  kDiffSource = 130,
  kWeights = 131,
  kDiffWeights = 132,
  kResult = 133,
  kDiffResult = 134,
  kScratchpadSize = 136,
};
enum Place : int {
  kFrom = 1,
  kTo = 17,
  kWeightsPlace = 33,
  kScratchpad = 80,
  kDiffFrom = 129,
  kDiffTo = 145,
  kDiffWeightsPlace = 161,
};
enum Runtime : unsigned { kSequential = 1, kOpenMp = 2 };
constexpr unsigned kInOrder = 1;
constexpr int kMostAxes = 12;

using Dims = int64_t[kMostAxes];

struct Version {
  int major, minor, patch;
  const char* hash;
  unsigned cpu_runtime, gpu_runtime;
};

struct Argument {
  int place;
  Handle memory;
};

// The functions, and OpenMP's two where the library's threads are those of OpenMP.
struct Api {
  const Version* (*version)();
  const char* (*status2str)(int);
  const char* (*dt2str)(int);
  const char* (*fmt_tag2str)(int);
  const char* (*prop_kind2str)(int);
  const char* (*alg_kind2str)(int);
  const char* (*engine_kind2str)(int);
  const char* (*scratchpad_mode2str)(int);
  int (*engine_create)(Handle*, int, size_t);
  int (*stream_create)(Handle*, Handle, unsigned);
  int (*stream_destroy)(Handle);
  int (*stream_wait)(Handle);
  int (*memory_desc_create_with_strides)(Handle*, int, const Dims, int, const Dims);
  int (*memory_desc_create_with_tag)(Handle*, int, const Dims, int, int);
  int (*memory_desc_clone)(Handle*, Handle);
  int (*memory_desc_destroy)(Handle);
  int (*memory_desc_equal)(Handle, Handle);
  size_t (*memory_desc_get_size)(Handle);
  int (*memory_create)(Handle*, Handle, Handle, void*);
  int (*memory_destroy)(Handle);
  int (*primitive_attr_create)(Handle*);
  int (*primitive_attr_destroy)(Handle);
  int (*primitive_attr_set_scratchpad_mode)(Handle, int);
  int (*primitive_desc_destroy)(Handle);
  int (*primitive_desc_query)(Handle, int, int, void*);
  Handle (*primitive_desc_query_md)(Handle, int, int);
  int (*primitive_create)(Handle*, Handle);
  int (*primitive_destroy)(Handle);
  int (*primitive_execute)(Handle, Handle, int, const Argument*);
  int (*reorder_primitive_desc_create)(Handle*, Handle, Handle, Handle, Handle, Handle);
  int (*convolution_forward_primitive_desc_create)(Handle*, Handle, int, int, Handle, Handle,
                                                   Handle, Handle, const Dims, const Dims,
                                                   const Dims, const Dims, Handle);
  int (*convolution_backward_data_primitive_desc_create)(Handle*, Handle, int, Handle, Handle,
                                                         Handle, const Dims, const Dims,
                                                         const Dims, const Dims, Handle, Handle);
  int (*convolution_backward_weights_primitive_desc_create)(Handle*, Handle, int, Handle, Handle,
                                                            Handle, Handle, const Dims, const Dims,
                                                            const Dims, const Dims, Handle,
                                                            Handle);
  int (*get_max_threads)() = nullptr;
  void (*set_num_threads)(int) = nullptr;
  Handle engine = nullptr;
};

inline void Check(const Api& api, int status, const char* what) {
  if (status == kSuccess) return;
  throw std::runtime_error(std::string("oneDNN: ") + what + ": " + api.status2str(status));
}

struct Loading {
  std::mutex mutex;
  Api api;
  std::string path, failure = "no library is loaded";

  // Numbers that stand for names must stand for the same names in the library.
  const char* Mismatch() const {
    const struct {
      const char *found, *expected;
    } names[] = {
        {api.status2str(kSuccess), "success"},
        {api.engine_kind2str(kCpu), "cpu"},
        {api.dt2str(kFloat32), "f32"},
        {api.dt2str(kFloat16), "f16"},
        {api.dt2str(kBfloat16), "bf16"},
        {api.fmt_tag2str(kAny), "any"},
        {api.prop_kind2str(kForwardTraining), "forward_training"},
        {api.alg_kind2str(kDirect), "convolution_direct"},
        {api.scratchpad_mode2str(kUser), "user"},
    };
    for (const auto& name : names) {
      if (name.found == nullptr || std::strcmp(name.found, name.expected)) return name.expected;
    }
    return nullptr;
  }

  void Load(const char* name) {
    void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(dlerror());
    const auto find = [&](const char* name, auto& function) {
      void* found = dlsym(library, name);
      if (found == nullptr) throw std::runtime_error(std::string("there is no ") + name);
      std::memcpy(&function, &found, sizeof(found));
    };
#define ONEDNN_FIND(name) find("dnnl_" #name, api.name)
    ONEDNN_FIND(version);
    const Version& version = *api.version();
    if (version.major != 3) {
      throw std::runtime_error("its version is " + std::to_string(version.major) + ", not 3");
    }
    if (version.cpu_runtime == kOpenMp) {
      // Threads are XLA's: each calls the library for its part, alone.
      find("omp_get_max_threads", api.get_max_threads);
      find("omp_set_num_threads", api.set_num_threads);
    } else if (version.cpu_runtime != kSequential) {
      throw std::runtime_error("its threads are not those of OpenMP");
    }
    ONEDNN_FIND(status2str);
    ONEDNN_FIND(dt2str);
    ONEDNN_FIND(fmt_tag2str);
    ONEDNN_FIND(prop_kind2str);
    ONEDNN_FIND(alg_kind2str);
    ONEDNN_FIND(engine_kind2str);
    ONEDNN_FIND(scratchpad_mode2str);
    ONEDNN_FIND(engine_create);
    ONEDNN_FIND(stream_create);
    ONEDNN_FIND(stream_destroy);
    ONEDNN_FIND(stream_wait);
    ONEDNN_FIND(memory_desc_create_with_strides);
    ONEDNN_FIND(memory_desc_create_with_tag);
    ONEDNN_FIND(memory_desc_clone);
    ONEDNN_FIND(memory_desc_destroy);
    ONEDNN_FIND(memory_desc_equal);
    ONEDNN_FIND(memory_desc_get_size);
    ONEDNN_FIND(memory_create);
    ONEDNN_FIND(memory_destroy);
    ONEDNN_FIND(primitive_attr_create);
    ONEDNN_FIND(primitive_attr_destroy);
    ONEDNN_FIND(primitive_attr_set_scratchpad_mode);
    ONEDNN_FIND(primitive_desc_destroy);
    ONEDNN_FIND(primitive_desc_query);
    ONEDNN_FIND(primitive_desc_query_md);
    ONEDNN_FIND(primitive_create);
    ONEDNN_FIND(primitive_destroy);
    ONEDNN_FIND(primitive_execute);
    ONEDNN_FIND(reorder_primitive_desc_create);
    ONEDNN_FIND(convolution_forward_primitive_desc_create);
    ONEDNN_FIND(convolution_backward_data_primitive_desc_create);
    ONEDNN_FIND(convolution_backward_weights_primitive_desc_create);
#undef ONEDNN_FIND
    if (const char* name = Mismatch()) {
      throw std::runtime_error(std::string("its number of ") + name + " is another");
    }
    Check(api, api.engine_create(&api.engine, kCpu, 0), "engine");
  }
};

inline Loading& TheLoading() {
  static Loading* loading = new Loading();  // never destroyed: threads may outlive the statics
  return *loading;
}

// Loads a library; gives an empty text or why it cannot be used. The first that can stays.
inline const char* Load(const char* path) {
  Loading& loading = TheLoading();
  std::lock_guard<std::mutex> lock(loading.mutex);
  if (loading.api.engine != nullptr) return loading.path == path ? "" : "another one is loaded";
  try {
    loading.Load(path);
    loading.path = path;
    loading.failure.clear();
  } catch (const std::exception& error) {
    loading.api = Api();
    loading.failure = error.what();
  }
  return loading.failure.c_str();
}

// The functions; `Load` must have succeeded.
inline const Api& TheApi() {
  Loading& loading = TheLoading();
  if (loading.api.engine == nullptr) throw std::runtime_error("oneDNN: " + loading.failure);
  return loading.api;
}

// While it lives, the library runs what this thread asks for on this thread alone.
class Alone {
 public:
  explicit Alone(const Api& api) : api_(api) {
    if (api.set_num_threads == nullptr) return;
    before_ = api.get_max_threads();
    if (before_ != 1) api.set_num_threads(1);
  }
  ~Alone() {
    if (before_ > 1) api_.set_num_threads(before_);
  }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

 private:
  const Api& api_;
  int before_ = 1;
};

}  // namespace onednn
