// A call of a kernel through the C ABI of XLA's foreign function interface: its arrays, its
// numbers, its threads and its errors.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "xla/ffi/api/c_api.h"

namespace kernels {

// What a call asks for that a kernel cannot do; the message becomes the error of the call.
using Refused = std::invalid_argument;

inline void Require(bool holds, const char* message) {
  if (!holds) throw Refused(message);
}

struct Array {
  const XLA_FFI_Buffer* buffer;

  int64_t rank() const { return buffer->rank; }
  // The size of an axis; negative numbers count from the last.
  int64_t dim(int64_t axis) const {
    axis = axis < 0 ? axis + rank() : axis;
    Require(axis >= 0 && axis < rank(), "an array has too few axes");
    return buffer->dims[axis];
  }
  int64_t size() const {
    int64_t count = 1;
    for (int64_t i = 0; i < rank(); ++i) count *= buffer->dims[i];
    return count;
  }
  float* floats() const { return As<float>(XLA_FFI_DataType_F32, "an array must be float32"); }
  int32_t* ints() const { return As<int32_t>(XLA_FFI_DataType_S32, "an array must be int32"); }
  int8_t* bytes() const { return As<int8_t>(XLA_FFI_DataType_S8, "an array must be int8"); }
  char* raw() const { return static_cast<char*>(buffer->data); }
  uint8_t* flags() const { return As<uint8_t>(XLA_FFI_DataType_U8, "an array must be uint8"); }

 private:
  template <class T>
  T* As(XLA_FFI_DataType type, const char* message) const {
    Require(buffer->dtype == type, message);
    return static_cast<T*>(buffer->data);
  }
};

// Jobs that whichever threads come take in turn. A thread that comes late finds none left, and
// touches nothing else.
struct Jobs {
  int64_t count;
  const std::function<void(int64_t)>* run;
  std::atomic<int64_t> next{0}, done{0};
  std::mutex mutex;
  std::condition_variable finished;

  void Take() {
    for (int64_t job; (job = next.fetch_add(1)) < count;) {
      (*run)(job);
      if (done.fetch_add(1) + 1 == count) {
        std::lock_guard<std::mutex> lock(mutex);
        finished.notify_all();
      }
    }
  }
};

class Call {
 public:
  explicit Call(const XLA_FFI_CallFrame* frame) : frame_(frame) {}

  int64_t args() const { return frame_->args.size; }
  Array arg(int64_t i) const {
    Require(i < frame_->args.size, "an argument is missing");
    return {static_cast<XLA_FFI_Buffer*>(frame_->args.args[i])};
  }
  Array out(int64_t i) const {
    Require(i < frame_->rets.size, "a result is missing");
    return {static_cast<XLA_FFI_Buffer*>(frame_->rets.rets[i])};
  }

  // A number among the attributes.
  double number(const char* name) const {
    const XLA_FFI_Attrs& attrs = frame_->attrs;
    for (int64_t i = 0; i < attrs.size; ++i) {
      const std::string own(attrs.names[i]->ptr, attrs.names[i]->len);
      if (own != name || attrs.types[i] != XLA_FFI_AttrType_SCALAR) continue;
      const auto* scalar = static_cast<XLA_FFI_Scalar*>(attrs.attrs[i]);
      if (scalar->dtype == XLA_FFI_DataType_F64) return *static_cast<double*>(scalar->value);
      if (scalar->dtype == XLA_FFI_DataType_S64) {
        return static_cast<double>(*static_cast<int64_t*>(scalar->value));
      }
    }
    throw Refused(std::string("there is no number named ") + name);
  }
  int64_t integer(const char* name) const { return static_cast<int64_t>(number(name)); }

  int64_t threads() const {
    int64_t count = 1;
    XLA_FFI_ThreadPool_NumThreads_Args args{XLA_FFI_ThreadPool_NumThreads_Args_STRUCT_SIZE,
                                            nullptr, frame_->ctx, &count};
    return Dropped(frame_->api->XLA_FFI_ThreadPool_NumThreads(&args)) ? std::max<int64_t>(count, 1)
                                                                      : 1;
  }

  // Runs jobs 0 to count - 1, which must not throw, on this thread and those of the pool.
  void Parallel(int64_t count, const std::function<void(int64_t)>& run) const {
    if (count <= 1) {
      if (count == 1) run(0);
      return;
    }
    auto jobs = std::make_shared<Jobs>();
    jobs->count = count;
    jobs->run = &run;
    const int64_t others = std::min(threads(), count) - 1;
    for (int64_t i = 0; i < others; ++i) {
      auto* held = new std::shared_ptr<Jobs>(jobs);
      XLA_FFI_Task* task = [](void* data) {
        std::unique_ptr<std::shared_ptr<Jobs>> own(static_cast<std::shared_ptr<Jobs>*>(data));
        (*own)->Take();
      };
      XLA_FFI_ThreadPool_Schedule_Args args{XLA_FFI_ThreadPool_Schedule_Args_STRUCT_SIZE, nullptr,
                                            frame_->ctx, task, held};
      if (!Dropped(frame_->api->XLA_FFI_ThreadPool_Schedule(&args))) delete held;
    }
    jobs->Take();
    std::unique_lock<std::mutex> lock(jobs->mutex);
    jobs->finished.wait(lock, [&] { return jobs->done.load() == count; });
  }

  // Cuts a range into parts of at least some elements, at most one a thread, and gives how many.
  int64_t Parts(int64_t count, int64_t smallest) const {
    return std::max<int64_t>(1, std::min(threads(), count / std::max<int64_t>(smallest, 1)));
  }
  // Runs run(part, task) for each task; what has the same part runs on one thread.
  template <class F>
  void Tasks(int64_t count, int64_t parts, F run) const {
    std::atomic<int64_t> next{0};
    Parallel(parts, [&](int64_t part) {
      for (int64_t task; (task = next.fetch_add(1)) < count;) run(part, task);
    });
  }
  // Runs run(part, begin, end) for each of these parts.
  template <class F>
  void Ranges(int64_t count, int64_t parts, F run) const {
    Parallel(parts, [&](int64_t part) {
      run(part, count * part / parts, count * (part + 1) / parts);
    });
  }

 private:
  bool Dropped(XLA_FFI_Error* error) const {
    if (error == nullptr) return true;
    XLA_FFI_Error_Destroy_Args args{XLA_FFI_Error_Destroy_Args_STRUCT_SIZE, nullptr, error};
    frame_->api->XLA_FFI_Error_Destroy(&args);
    return false;
  }

  const XLA_FFI_CallFrame* frame_;
};

inline XLA_FFI_Error* Handle(XLA_FFI_CallFrame* frame, const char* name, void (*run)(Call&)) {
  // Asked at registration which version of the interface this is.
  auto* extension = frame->extension_start;
  if (extension != nullptr && extension->type == XLA_FFI_Extension_Metadata) {
    auto* metadata = reinterpret_cast<XLA_FFI_Metadata_Extension*>(extension)->metadata;
    metadata->api_version.major_version = XLA_FFI_API_MAJOR;
    metadata->api_version.minor_version = XLA_FFI_API_MINOR;
    metadata->traits = 0;
    metadata->state_type_id = XLA_FFI_UNKNOWN_TYPE_ID;
    return nullptr;
  }
  std::string message;
  XLA_FFI_Error_Code code = XLA_FFI_Error_Code_INVALID_ARGUMENT;
  try {
    Call call(frame);
    run(call);
    return nullptr;
  } catch (const std::bad_alloc&) {
    message = std::string(name) + ": out of memory";
    code = XLA_FFI_Error_Code_RESOURCE_EXHAUSTED;
  } catch (const std::exception& error) {
    message = std::string(name) + ": " + error.what();
  }
  XLA_FFI_Error_Create_Args args{XLA_FFI_Error_Create_Args_STRUCT_SIZE, nullptr, message.c_str(),
                                 code};
  return frame->api->XLA_FFI_Error_Create(&args);
}

}  // namespace kernels

// Exports a function void(Call&) as a handler of XLA's foreign function interface.
#define KERNEL(name, run)                                                                  \
  extern "C" __attribute__((visibility("default"))) XLA_FFI_Error* mindjax_##name(         \
      XLA_FFI_CallFrame* frame) {                                                          \
    return kernels::Handle(frame, #name, run);                                             \
  }
