// What the files of the stand-in share: its state, arrays seen through strides, operators' two phases.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "../runtime/half.h"

#define ENTRY extern "C" __attribute__((visibility("default")))

namespace standin {

constexpr int32_t kInvalidUse = 107000, kOutOfMemory = 207001, kInvalidArgument = 161002;
// aclDataType.
enum { kFloat = 0, kHalf = 1, kInt8 = 2, kInt32 = 3, kUint8 = 4, kInt16 = 6, kInt64 = 9, kBool = 12,
       kBfloat = 27 };

struct Tensor {
  std::vector<int64_t> dims, strides;
  int64_t offset;
  int type, format;
  int64_t room;  // elements of the storage
  char* data;

  int64_t Count() const;
  double Get(int64_t at) const;       // at an offset of elements
  void Set(int64_t at, double value) const;
  double At(int64_t index) const { return Get(Place(index)); }  // at a row-major index
  void Put(int64_t index, double value) const { Set(Place(index), value); }
  int64_t Place(int64_t index) const;
  // The place of the element that stands at an index of larger dims, repeated along axes of length 1.
  int64_t Repeated(int64_t index, const std::vector<int64_t>& whole) const;
};
typedef const Tensor* T;
struct Ints {
  std::vector<int64_t> values;
};
struct Scalar {
  double value;
};
struct List {
  std::vector<T> tensors;
};

// The error that is planned for a call, which is counted; under the lock.
int32_t Enter(const std::string& name, bool needs_ready = true);
void Blame(const std::string& text);
extern std::mutex mutex;

// What a first phase checks: arrays that are there, of these types, in their memory.
struct Checked {
  std::vector<T> read, written;
  std::set<int> types;  // of all of them; none for any
};
int32_t First(const char* name, const Checked& checked, bool fits, std::function<void()> run,
              uint64_t* workspace, void** executor);
int32_t Second(const char* name, void* workspace, uint64_t bytes, void* executor, void* stream);

const std::set<int> kFloats = {kFloat, kHalf, kBfloat};
const std::set<int> kNumbers = {kFloat, kHalf, kBfloat, kInt32, kInt64};
const std::set<int> kAll = {kFloat, kHalf, kBfloat, kInt8, kInt32, kUint8, kInt16, kInt64, kBool};

// Whether arrays can be repeated to these dims.
bool Repeats(const Tensor& tensor, const std::vector<int64_t>& whole);

}  // namespace standin

#define SECOND(name)                                                                  \
  ENTRY int32_t name(void* workspace, uint64_t bytes, void* executor, void* stream) { \
    return standin::Second(#name, workspace, bytes, executor, stream);                \
  }
