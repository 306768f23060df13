#include "client.h"

#include <cstdlib>
#include <cstring>
#include <set>

#include "api.h"
#include "failure.h"
#include "signal.h"

namespace ascend {
namespace {

constexpr const char* kMemoryKinds[] = {"device", "pinned_host"};

void* GetUserData(PJRT_Memory* memory, const void* key) {
  Memory* m = Memory::Of(memory);
  std::lock_guard<std::mutex> lock(m->mutex);
  auto found = m->user_data.find(key);
  return found == m->user_data.end() ? nullptr : found->second.first;
}

void SetUserData(PJRT_Memory* memory, const void* key, void* data, void (*destructor)(void*)) {
  Memory* m = Memory::Of(memory);
  std::lock_guard<std::mutex> lock(m->mutex);
  auto& held = m->user_data[key];
  if (held.first && held.second) held.second(held.first);
  held = {data, destructor};
}

const PJRT_Memory_FunctionTable kMemoryTable = {sizeof(PJRT_Memory_FunctionTable), nullptr,
                                                sizeof(Memory), GetUserData, SetUserData};

}  // namespace

Memory::~Memory() {
  for (auto& [key, held] : user_data)
    if (held.first && held.second) held.second(held.first);
}

Storage::Storage(Memory* memory, size_t bytes) : memory_(memory), bytes_(bytes) {
  PJRT_Device* device = memory->device;
  const int id = device->description.id;
  if (memory->on_host) {
    data_ = static_cast<char*>(std::aligned_alloc(64, (bytes + 127) / 64 * 64));
    if (!data_) throw std::bad_alloc();
    return;
  }
  const int64_t used = device->used.fetch_add(bytes) + bytes;
  try {
    if (used > device->driver().memory_limit(id))
      throw Failure(PJRT_Error_Code_RESOURCE_EXHAUSTED,
                    "ascend: device " + std::to_string(id) + " is out of memory: " +
                        std::to_string(bytes) + " bytes are asked for, and " +
                        std::to_string(used - static_cast<int64_t>(bytes)) + " of " +
                        std::to_string(device->driver().memory_limit(id)) + " are in use");
    data_ = static_cast<char*>(device->driver().Allocate(id, bytes));
  } catch (...) {
    device->used -= bytes;
    throw;
  }
  device->allocations++;
  int64_t peak = device->peak;
  while (used > peak && !device->peak.compare_exchange_weak(peak, used)) {
  }
  int64_t largest = device->largest;
  while (static_cast<int64_t>(bytes) > largest &&
         !device->largest.compare_exchange_weak(largest, bytes)) {
  }
}

Storage::~Storage() {
  if (memory_->on_host) {
    std::free(data_);
    return;
  }
  PJRT_Device* device = memory_->device;
  device->driver().Free(device->description.id, data_);
  device->used -= bytes_;
}

}  // namespace ascend

using namespace ascend;

Driver& PJRT_Device::driver() const { return *client->driver; }

namespace {
std::mutex clients_mutex;
std::set<PJRT_Client*> clients;
}  // namespace

PJRT_Client::PJRT_Client(const DriverOptions& options) : driver(MakeDriver(options)) {
  version = std::string("mindjax-ascend-xla, driver ") + driver->name();
  topology.client = this;
  for (int i = 0; i < driver->device_count(); i++) {
    auto device = std::make_unique<PJRT_Device>();
    const std::string number = std::to_string(i);
    device->client = this;
    device->description = {i, driver->kind(i), "ascend:" + number,
                           "AscendDevice(id=" + number + ")"};
    for (int k = 0; k < 2; k++) {
      auto memory = std::make_unique<Memory>();
      memory->vtable = &kMemoryTable;
      memory->id = 2 * i + k;
      memory->kind_id = k;
      memory->on_host = k == 1;
      memory->kind = kMemoryKinds[k];
      memory->debug = "AscendMemory(" + memory->kind + ", " + number + ")";
      memory->device = device.get();
      device->memories.push_back(memory.get());
      memories.push_back(memory.get());
      owned_memories.push_back(std::move(memory));
    }
    topology.descriptions.push_back(&device->description);
    devices.push_back(device.get());
    owned_devices.push_back(std::move(device));
  }
  std::lock_guard<std::mutex> lock(clients_mutex);
  clients.insert(this);
}

// Streams first: their work reads memories and the driver.
PJRT_Client::~PJRT_Client() {
  {
    std::lock_guard<std::mutex> lock(clients_mutex);
    clients.erase(this);
  }
  owned_devices.clear();
}

// Waits until all that was queued has run.
extern "C" __attribute__((visibility("default"))) void ascend_drain() {
  std::lock_guard<std::mutex> lock(clients_mutex);
  for (PJRT_Client* client : clients)
    for (PJRT_Device* device : client->devices) {
      auto idle = std::make_shared<Signal>();
      device->stream.Enqueue([idle] { idle->Set(); });
      idle->Wait();
    }
}

PJRT_Device* PJRT_Client::Find(int id) const {
  if (id < 0 || id >= static_cast<int>(devices.size()))
    throw InvalidArgument("ascend: there is no device " + std::to_string(id) + " among " +
                          std::to_string(devices.size()));
  return devices[id];
}

namespace ascend {
namespace {

DriverOptions Options(const PJRT_NamedValue* values, size_t count) {
  DriverOptions options;
  for (size_t i = 0; i < count; i++) {
    const PJRT_NamedValue& v = values[i];
    const std::string name(v.name, v.name_size);
    const bool text = v.type == PJRT_NamedValue_kString;
    const std::string value = text ? std::string(v.string_value, v.value_size) : "";
    if (name == "driver" && text) options.driver = value;
    else if (name == "acl_library" && text) options.acl_library = value;
    else if (name == "opapi_library" && text) options.opapi_library = value;
    else if (name == "num_devices" && v.type == PJRT_NamedValue_kInt64)
      options.num_devices = static_cast<int>(v.int64_value);
    else if (name == "memory_limit_bytes" && v.type == PJRT_NamedValue_kInt64)
      options.memory_limit = v.int64_value;
    // jax tells each of several processes its place among them: devices are a process's own.
    else if (name == "node_id" || name == "num_nodes" || name == "partition_index")
      continue;
    else
      throw InvalidArgument("ascend: the plugin has no option '" + name + "' of this type");
  }
  if (options.num_devices < 1) throw InvalidArgument("ascend: num_devices must be at least 1");
  return options;
}

template <typename Args>
void Give(const std::string& text, const char*& data, size_t& size, Args*) {
  data = text.data();
  size = text.size();
}

}  // namespace

void Implement(PJRT_Client_Create_Args* a) {
  a->client = new PJRT_Client(Options(a->create_options, a->num_options));
}
void Implement(PJRT_Client_Destroy_Args* a) { delete a->client; }
void Implement(PJRT_Client_PlatformName_Args* a) {
  a->platform_name = "ascend";
  a->platform_name_size = 6;
}
void Implement(PJRT_Client_PlatformVersion_Args* a) {
  Give(a->client->version, a->platform_version, a->platform_version_size, a);
}
void Implement(PJRT_Client_ProcessIndex_Args* a) { a->process_index = 0; }
void Implement(PJRT_Client_UpdateGlobalProcessInfo_Args*) {}
void Implement(PJRT_Client_Devices_Args* a) {
  a->devices = a->client->devices.data();
  a->num_devices = a->client->devices.size();
}
void Implement(PJRT_Client_AddressableDevices_Args* a) {
  a->addressable_devices = a->client->devices.data();
  a->num_addressable_devices = a->client->devices.size();
}
void Implement(PJRT_Client_LookupDevice_Args* a) { a->device = a->client->Find(a->id); }
void Implement(PJRT_Client_LookupAddressableDevice_Args* a) {
  a->addressable_device = a->client->Find(a->local_hardware_id);
}
void Implement(PJRT_Client_AddressableMemories_Args* a) {
  a->addressable_memories = a->client->memories.data();
  a->num_addressable_memories = a->client->memories.size();
}
void Implement(PJRT_Client_TopologyDescription_Args* a) { a->topology = &a->client->topology; }
void Implement(PJRT_Client_DefaultDeviceAssignment_Args* a) {
  const size_t wanted = static_cast<size_t>(a->num_replicas) * a->num_partitions;
  if (wanted > a->client->devices.size())
    throw InvalidArgument("ascend: " + std::to_string(wanted) + " devices are asked for, and " +
                          std::to_string(a->client->devices.size()) + " are there");
  for (size_t i = 0; i < wanted && i < a->default_assignment_size; i++)
    a->default_assignment[i] = static_cast<int>(i);
}

// The client owns its topology.
void Implement(PJRT_TopologyDescription_Destroy_Args*) {}
void Implement(PJRT_TopologyDescription_PlatformName_Args* a) {
  a->platform_name = "ascend";
  a->platform_name_size = 6;
}
void Implement(PJRT_TopologyDescription_PlatformVersion_Args* a) {
  Give(a->topology->client->version, a->platform_version, a->platform_version_size, a);
}
void Implement(PJRT_TopologyDescription_GetDeviceDescriptions_Args* a) {
  a->descriptions = a->topology->descriptions.data();
  a->num_descriptions = a->topology->descriptions.size();
}
void Implement(PJRT_TopologyDescription_Attributes_Args* a) {
  a->attributes = nullptr;
  a->num_attributes = 0;
}

void Implement(PJRT_DeviceDescription_Id_Args* a) { a->id = a->device_description->id; }
void Implement(PJRT_DeviceDescription_ProcessIndex_Args* a) { a->process_index = 0; }
void Implement(PJRT_DeviceDescription_Attributes_Args* a) {
  a->attributes = nullptr;
  a->num_attributes = 0;
}
void Implement(PJRT_DeviceDescription_Kind_Args* a) {
  Give(a->device_description->kind, a->device_kind, a->device_kind_size, a);
}
void Implement(PJRT_DeviceDescription_DebugString_Args* a) {
  Give(a->device_description->debug, a->debug_string, a->debug_string_size, a);
}
void Implement(PJRT_DeviceDescription_ToString_Args* a) {
  Give(a->device_description->text, a->to_string, a->to_string_size, a);
}

void Implement(PJRT_Device_GetDescription_Args* a) {
  a->device_description = &a->device->description;
}
void Implement(PJRT_Device_IsAddressable_Args* a) { a->is_addressable = true; }
void Implement(PJRT_Device_LocalHardwareId_Args* a) {
  a->local_hardware_id = a->device->description.id;
}
void Implement(PJRT_Device_AddressableMemories_Args* a) {
  a->memories = a->device->memories.data();
  a->num_memories = a->device->memories.size();
}
void Implement(PJRT_Device_DefaultMemory_Args* a) { a->memory = a->device->memories[0]; }
void Implement(PJRT_Device_GetAttributes_Args* a) {
  a->attributes = nullptr;
  a->num_attributes = 0;
  a->device_attributes = nullptr;
  a->attributes_deleter = [](PJRT_Device_Attributes*) {};
}
void Implement(PJRT_Device_MemoryStats_Args* a) {
  PJRT_Device* device = a->device;
  a->bytes_in_use = device->used;
  a->peak_bytes_in_use = device->peak;
  a->num_allocs = device->allocations;
  a->largest_alloc_size = device->largest;
  a->bytes_limit = device->driver().memory_limit(device->description.id);
  a->peak_bytes_in_use_is_set = a->num_allocs_is_set = a->largest_alloc_size_is_set = true;
  a->bytes_limit_is_set = true;
  a->bytes_reserved_is_set = a->peak_bytes_reserved_is_set = false;
  a->bytes_reservable_limit_is_set = a->largest_free_block_bytes_is_set = false;
  a->pool_bytes_is_set = a->peak_pool_bytes_is_set = false;
  // Callers built before 0.113 have no room for the last field.
  if (a->struct_size >= sizeof(*a)) a->peak_allocated_bytes_is_set = false;
}

void Implement(PJRT_Memory_Id_Args* a) { a->id = Memory::Of(a->memory)->id; }
void Implement(PJRT_Memory_Kind_Args* a) {
  Give(Memory::Of(a->memory)->kind, a->kind, a->kind_size, a);
}
void Implement(PJRT_Memory_Kind_Id_Args* a) { a->kind_id = Memory::Of(a->memory)->kind_id; }
void Implement(PJRT_Memory_DebugString_Args* a) {
  Give(Memory::Of(a->memory)->debug, a->debug_string, a->debug_string_size, a);
}
void Implement(PJRT_Memory_ToString_Args* a) {
  Give(Memory::Of(a->memory)->debug, a->to_string, a->to_string_size, a);
}
void Implement(PJRT_Memory_AddressableByDevices_Args* a) {
  a->devices = &Memory::Of(a->memory)->device;
  a->num_devices = 1;
}

}  // namespace ascend
