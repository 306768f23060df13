// A call of a kernel through the C ABI of XLA's foreign function interface, with its threads.
//
// The C++ form of the interface and the C++ library's threads take g++ two seconds a kernel.
#pragma once

#include <pthread.h>
#include <string.h>

#include <atomic>
#include <cstdint>

#include "xla/ffi/api/c_api.h"

namespace kernels {

inline const XLA_FFI_Buffer& Argument(const XLA_FFI_CallFrame* frame, int64_t i) {
  return *static_cast<const XLA_FFI_Buffer*>(frame->args.args[i]);
}

inline const XLA_FFI_Buffer& Result(const XLA_FFI_CallFrame* frame, int64_t i) {
  return *static_cast<const XLA_FFI_Buffer*>(frame->rets.rets[i]);
}

inline float* Floats(const XLA_FFI_Buffer& buffer) { return static_cast<float*>(buffer.data); }

// Whether a call has so many arguments and results, all of them Float32.
inline bool AllFloats(const XLA_FFI_CallFrame* frame, int64_t arguments, int64_t results) {
  if (frame->args.size != arguments || frame->rets.size != results) return false;
  for (int64_t i = 0; i < arguments; ++i)
    if (Argument(frame, i).dtype != XLA_FFI_DataType_F32) return false;
  for (int64_t i = 0; i < results; ++i)
    if (Result(frame, i).dtype != XLA_FFI_DataType_F32) return false;
  return true;
}

// An attribute of a call that is an Int64; 0 where it has none of the name.
inline int64_t Number(const XLA_FFI_CallFrame* frame, const char* name) {
  for (int64_t i = 0; i < frame->attrs.size; ++i) {
    const XLA_FFI_ByteSpan& found = *frame->attrs.names[i];
    if (found.len != strlen(name) || memcmp(found.ptr, name, found.len) != 0) continue;
    if (frame->attrs.types[i] != XLA_FFI_AttrType_SCALAR) return 0;
    const auto& scalar = *static_cast<const XLA_FFI_Scalar*>(frame->attrs.attrs[i]);
    return scalar.dtype == XLA_FFI_DataType_S64 ? *static_cast<const int64_t*>(scalar.value) : 0;
  }
  return 0;
}

// Whether the interface did as it was asked; its error is dropped.
inline bool Done(const XLA_FFI_CallFrame* frame, XLA_FFI_Error* error) {
  if (error == nullptr) return true;
  XLA_FFI_Error_Destroy_Args args{XLA_FFI_Error_Destroy_Args_STRUCT_SIZE, nullptr, error};
  frame->api->XLA_FFI_Error_Destroy(&args);
  return false;
}

inline int64_t Threads(const XLA_FFI_CallFrame* frame) {
  int64_t count = 1;
  XLA_FFI_ThreadPool_NumThreads_Args args{XLA_FFI_ThreadPool_NumThreads_Args_STRUCT_SIZE, nullptr,
                                          frame->ctx, &count};
  return Done(frame, frame->api->XLA_FFI_ThreadPool_NumThreads(&args)) ? count : 1;
}

// The parts of a job, taken by whichever threads come. One that comes late finds none left, and
// touches nothing of the job.
template <class Job>
struct Parts {
  const Job* job;
  int64_t count;
  std::atomic<int64_t> next{0}, done{0}, holders;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t finished = PTHREAD_COND_INITIALIZER;

  Parts(const Job* job, int64_t count, int64_t holders)
      : job(job), count(count), holders(holders) {}

  void Take() {
    for (int64_t part; (part = next.fetch_add(1)) < count;) {
      job->Run(part);
      if (done.fetch_add(1) + 1 == count) {
        pthread_mutex_lock(&mutex);
        pthread_cond_broadcast(&finished);
        pthread_mutex_unlock(&mutex);
      }
    }
  }

  void Leave() {
    if (holders.fetch_sub(1) == 1) delete this;
  }
};

// Runs job.Run(part) for parts 0 to count - 1, on this thread and those of XLA's pool: as many as
// there are, or fewer if told so.
template <class Job>
void Parallel(const XLA_FFI_CallFrame* frame, const Job& job, int64_t count, int64_t most = 0) {
  const int64_t threads = most > 0 ? most : Threads(frame);
  const int64_t others = (threads < count ? threads : count) - 1;
  if (others < 1) {
    for (int64_t part = 0; part < count; ++part) job.Run(part);
    return;
  }
  auto* parts = new Parts<Job>(&job, count, others + 1);
  XLA_FFI_Task* task = [](void* data) {
    auto* own = static_cast<Parts<Job>*>(data);
    own->Take();
    own->Leave();
  };
  for (int64_t i = 0; i < others; ++i) {
    XLA_FFI_ThreadPool_Schedule_Args args{XLA_FFI_ThreadPool_Schedule_Args_STRUCT_SIZE, nullptr,
                                          frame->ctx, task, parts};
    if (!Done(frame, frame->api->XLA_FFI_ThreadPool_Schedule(&args))) parts->Leave();
  }
  parts->Take();
  pthread_mutex_lock(&parts->mutex);
  while (parts->done.load() != count) pthread_cond_wait(&parts->finished, &parts->mutex);
  pthread_mutex_unlock(&parts->mutex);
  parts->Leave();
}

// Runs a kernel, which gives what is wrong with its call, null for nothing.
inline XLA_FFI_Error* Handle(XLA_FFI_CallFrame* frame,
                             const char* (*run)(const XLA_FFI_CallFrame*)) {
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
  const char* refused = run(frame);
  if (refused == nullptr) return nullptr;
  XLA_FFI_Error_Create_Args args{XLA_FFI_Error_Create_Args_STRUCT_SIZE, nullptr, refused,
                                 XLA_FFI_Error_Code_INVALID_ARGUMENT};
  return frame->api->XLA_FFI_Error_Create(&args);
}

}  // namespace kernels

// Exports a kernel as a handler.
#define KERNEL(name, run)                                                \
  extern "C" XLA_FFI_Error* mindjax_##name(XLA_FFI_CallFrame* frame) {   \
    return kernels::Handle(frame, run);                                  \
  }

// A copy of a function for each kind of processor, chosen when the library is loaded.
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__)
#define FOR_EACH_PROCESSOR \
  __attribute__((target_clones("default", "arch=haswell", "arch=skylake-avx512")))
#else
#define FOR_EACH_PROCESSOR
#endif
