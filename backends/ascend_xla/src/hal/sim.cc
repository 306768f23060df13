// The driver without hardware: a device is a share of the host's memory.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "../pjrt/failure.h"
#include "driver.h"

namespace ascend {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kKeptBytes = size_t(256) << 20;

class Sim : public Driver {
 public:
  explicit Sim(const DriverOptions& options)
      : devices_(options.num_devices), limit_(options.memory_limit) {}
  ~Sim() override {
    for (auto& [size, data] : kept_) std::free(data);
  }
  const char* name() const override { return "sim"; }
  int device_count() const override { return devices_; }
  bool host_visible() const override { return true; }
  std::string kind(int) const override { return "Ascend910B (simulated)"; }
  int64_t memory_limit(int) const override { return limit_; }

  // Freed blocks are kept by size: fresh pages of the system cost more than small programs do.
  void* Allocate(int device, size_t bytes) override {
    const size_t size = (bytes + 2 * kAlignment - 1) / kAlignment * kAlignment;
    void* block = nullptr;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      auto found = kept_.find(size);
      if (found != kept_.end()) {
        block = found->second;
        kept_.erase(found);
        kept_bytes_ -= size;
      }
    }
    if (!block) block = std::aligned_alloc(kAlignment, size + kAlignment);
    if (!block)
      throw Failure(PJRT_Error_Code_RESOURCE_EXHAUSTED,
                    "ascend: device " + std::to_string(device) + " has no " +
                        std::to_string(bytes) + " bytes left");
    *static_cast<size_t*>(block) = size;
    return static_cast<char*>(block) + kAlignment;
  }
  void Free(int, void* data) noexcept override {
    void* block = static_cast<char*>(data) - kAlignment;
    const size_t size = *static_cast<size_t*>(block);
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (kept_bytes_ + size <= kKeptBytes) {
        kept_.emplace(size, block);
        kept_bytes_ += size;
        return;
      }
    }
    std::free(block);
  }
  void ToDevice(int, void* to, const void* from, size_t n) override { std::memcpy(to, from, n); }
  void ToHost(int, void* to, const void* from, size_t n) override { std::memcpy(to, from, n); }
  void Within(int, void* to, const void* from, size_t n) override { std::memcpy(to, from, n); }
  bool Launch(int, const std::vector<OperatorCall>&, const std::vector<Operand>&) override {
    return false;
  }
  void Synchronize(int) override {}

 private:
  const int devices_;
  const int64_t limit_;
  std::mutex mutex_;
  std::multimap<size_t, void*> kept_;
  size_t kept_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Driver> MakeSim(const DriverOptions& options) {
  return std::make_unique<Sim>(options);
}

std::unique_ptr<Driver> MakeDriver(const DriverOptions& options) {
  if (options.driver == "sim") return MakeSim(options);
  if (options.driver == "acl") return MakeAcl(options);
  throw InvalidArgument("ascend: the driver is 'sim' or 'acl', not '" + options.driver + "'");
}

}  // namespace ascend
