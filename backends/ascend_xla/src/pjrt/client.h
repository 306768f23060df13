// The client, its devices and their memories.
#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "../hal/driver.h"
#include "abi.h"
#include "stream.h"

struct PJRT_DeviceDescription {
  int id;
  std::string kind, debug, text;
};

struct PJRT_Device {
  PJRT_Client* client = nullptr;
  PJRT_DeviceDescription description;
  std::vector<PJRT_Memory*> memories;
  ascend::Stream stream;
  std::atomic<int64_t> used{0}, peak{0}, allocations{0}, largest{0};
  ascend::Driver& driver() const;
};

struct PJRT_TopologyDescription {
  PJRT_Client* client = nullptr;
  std::vector<PJRT_DeviceDescription*> descriptions;
};

namespace ascend {

// A memory that a device reads: its own, or the host's that it reaches.
struct Memory : PJRT_Memory {
  int id, kind_id;
  bool on_host;
  std::string kind, debug;
  PJRT_Device* device;
  std::mutex mutex;
  std::map<const void*, std::pair<void*, void (*)(void*)>> user_data;
  ~Memory();
  static Memory* Of(PJRT_Memory* memory) { return static_cast<Memory*>(memory); }
};

// Bytes of a memory, counted in its device's statistics, freed with the last owner.
class Storage {
 public:
  Storage(Memory* memory, size_t bytes);
  ~Storage();
  Storage(const Storage&) = delete;
  char* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  bool on_host() const { return memory_->on_host; }

 private:
  Memory* memory_;
  size_t bytes_;
  char* data_;
};

}  // namespace ascend

struct PJRT_Client {
  std::unique_ptr<ascend::Driver> driver;
  std::string version;
  std::vector<std::unique_ptr<ascend::Memory>> owned_memories;
  std::vector<std::unique_ptr<PJRT_Device>> owned_devices;
  std::vector<PJRT_Device*> devices;
  std::vector<PJRT_Memory*> memories;
  PJRT_TopologyDescription topology;
  explicit PJRT_Client(const ascend::DriverOptions& options);
  ~PJRT_Client();
  PJRT_Device* Find(int id) const;
};
