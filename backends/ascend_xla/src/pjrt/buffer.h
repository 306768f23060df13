// An array on a device.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "client.h"
#include "signal.h"
#include "types.h"

struct PJRT_Buffer {
  ascend::Memory* memory;
  PJRT_Buffer_Type type;
  std::vector<int64_t> dims;
  std::shared_ptr<ascend::Signal> ready;
  // Allocates the bytes.
  PJRT_Buffer(ascend::Memory* memory, PJRT_Buffer_Type type, std::vector<int64_t> dims,
              std::shared_ptr<ascend::Signal> ready);
  // The bytes; throws INVALID_ARGUMENT once deleted or donated.
  std::shared_ptr<ascend::Storage> storage(const char* user) const;
  void Delete();
  bool deleted() const;
  size_t bytes() const { return ascend::Bytes(type, dims); }
  const int64_t* minor_to_major();
  void Hold();
  void Release();

 private:
  mutable std::mutex mutex_;
  bool deleted_ = false;
  int holders_ = 0;
  std::shared_ptr<ascend::Storage> storage_;
  std::vector<int64_t> minor_to_major_;
};
