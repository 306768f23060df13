// What the plugin needs of an accelerator; `sim` is the host's memory, `acl` is CANN's library.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "call.h"

namespace ascend {

// One array of launched operators.
struct Operand {
  void* data;
  int type;  // PJRT_Buffer_Type
  const std::vector<int64_t>* dims;
};

class Driver {
 public:
  virtual ~Driver() = default;
  virtual const char* name() const = 0;
  virtual int device_count() const = 0;
  // Whether kernels of the host read a device's memory by its address.
  virtual bool host_visible() const = 0;
  virtual std::string kind(int device) const = 0;
  virtual int64_t memory_limit(int device) const = 0;
  // Memory is aligned to 64 bytes; a failure throws RESOURCE_EXHAUSTED.
  virtual void* Allocate(int device, size_t bytes) = 0;
  virtual void Free(int device, void* data) noexcept = 0;
  // Copies, finished when they return; any thread may call them.
  virtual void ToDevice(int device, void* to, const void* from, size_t bytes) = 0;
  virtual void ToHost(int device, void* to, const void* from, size_t bytes) = 0;
  virtual void Within(int device, void* to, const void* from, size_t bytes) = 0;
  // Queues operators on the device's stream; false says that its library has one of them not, or
  // takes not such arguments, and that nothing of the operands was written.
  virtual bool Launch(int device, const std::vector<OperatorCall>& calls,
                      const std::vector<Operand>& operands) = 0;
  virtual void Synchronize(int device) = 0;
};

struct DriverOptions {
  std::string driver = "sim";
  int num_devices = 1;
  int64_t memory_limit = int64_t(64) << 30;
  std::string acl_library = "libascendcl.so";
  // Libraries of operators, with colons between; those that are there are searched in order. Later
  // versions of CANN have one a subject in place of libopapi.so.
  std::string opapi_library =
      "libnnopbase.so:libopapi.so:libopapi_math.so:libopapi_nn.so:libopapi_cv.so:"
      "libopapi_transformer.so";
};

std::unique_ptr<Driver> MakeDriver(const DriverOptions& options);
std::unique_ptr<Driver> MakeSim(const DriverOptions& options);
std::unique_ptr<Driver> MakeAcl(const DriverOptions& options);

}  // namespace ascend
