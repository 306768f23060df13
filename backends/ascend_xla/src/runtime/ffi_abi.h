// Declarations of XLA's foreign function interface, as handlers of custom calls see it.
#pragma once
#include <cstddef>
#include <cstdint>

namespace ascend {
namespace ffi {

#define FFI_HEAD      \
  size_t struct_size; \
  void* extension_start

struct Error;
struct Buffer {
  FFI_HEAD;
  int32_t dtype;
  void* data;
  int64_t rank;
  int64_t* dims;
};
struct ByteSpan {
  const char* ptr;
  size_t len;
};
struct Scalar {
  int32_t dtype;
  void* value;
};
struct Arguments {
  FFI_HEAD;
  int64_t size;
  int32_t* types;  // 1 is a buffer
  void** items;
};
struct Attributes {
  FFI_HEAD;
  int64_t size;
  int32_t* types;  // 3 is a scalar
  ByteSpan** names;
  void** items;
};
struct CallFrame {
  FFI_HEAD;
  const struct Api* api;
  void* context;
  int32_t stage;
  Arguments arguments, results;
  Attributes attributes;
  void* future;
};
struct ErrorCreate {
  FFI_HEAD;
  const char* message;
  int32_t code;
};
struct ThreadPoolSchedule {
  FFI_HEAD;
  void* context;
  void (*task)(void* data);
  void* data;
};
struct ThreadPoolNumThreads {
  FFI_HEAD;
  void* context;
  int64_t* num_threads;
};
struct Version {
  FFI_HEAD;
  int major, minor;
};
struct Api {
  FFI_HEAD;
  Version version;
  const void* internal;
  void* functions[18];
};
enum Slot { kErrorCreate = 0, kThreadPoolSchedule = 11, kThreadPoolNumThreads = 12 };
constexpr int kBuffer = 1, kScalar = 3, kExecute = 3;
typedef Error* (*Handler)(CallFrame*);

}  // namespace ffi
}  // namespace ascend
