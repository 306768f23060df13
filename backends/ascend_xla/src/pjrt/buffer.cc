#include "buffer.h"

#include <cstring>

#include "api.h"
#include "failure.h"

using namespace ascend;

PJRT_Buffer::PJRT_Buffer(Memory* m, PJRT_Buffer_Type t, std::vector<int64_t> d,
                         std::shared_ptr<Signal> r)
    : memory(m), type(t), dims(std::move(d)), ready(std::move(r)) {
  storage_ = std::make_shared<Storage>(memory, bytes());
}

std::shared_ptr<Storage> PJRT_Buffer::storage(const char* user) const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (deleted_)
    throw InvalidArgument(std::string("ascend: ") + user + ": the array has been deleted or donated");
  return storage_;
}

void PJRT_Buffer::Delete() {
  std::lock_guard<std::mutex> lock(mutex_);
  deleted_ = true;
  if (holders_ == 0) storage_.reset();
}

bool PJRT_Buffer::deleted() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return deleted_;
}

void PJRT_Buffer::Hold() {
  std::lock_guard<std::mutex> lock(mutex_);
  holders_++;
}

void PJRT_Buffer::Release() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (holders_ == 0) throw InvalidArgument("ascend: an array is released that nobody holds");
  if (--holders_ == 0 && deleted_) storage_.reset();
}

const int64_t* PJRT_Buffer::minor_to_major() {
  std::lock_guard<std::mutex> lock(mutex_);
  // Written once: other callers may still read it, without the lock.
  if (minor_to_major_.size() != dims.size())
    for (size_t i = dims.size(); i-- > 0;) minor_to_major_.push_back(i);
  return minor_to_major_.data();
}

namespace ascend {
namespace {

void CopyStrided(char* to, const char* from, const std::vector<int64_t>& dims,
                 const int64_t* strides, size_t axis, size_t element) {
  if (axis == dims.size()) {
    std::memcpy(to, from, element);
    return;
  }
  size_t step = element;
  for (size_t j = axis + 1; j < dims.size(); j++) step *= dims[j];
  for (int64_t i = 0; i < dims[axis]; i++)
    CopyStrided(to + i * step, from + i * strides[axis], dims, strides, axis + 1, element);
}

bool Dense(const std::vector<int64_t>& dims, const int64_t* strides, size_t element) {
  int64_t expected = element;
  for (size_t i = dims.size(); i-- > 0;) {
    if (dims[i] != 1 && strides[i] != expected) return false;
    expected *= dims[i];
  }
  return true;
}

bool RowMajor(const PJRT_Buffer_MemoryLayout* layout, const std::vector<int64_t>& dims,
              size_t element) {
  if (!layout) return true;
  if (layout->type == PJRT_Buffer_MemoryLayout_Type_Strides)
    return Dense(dims, layout->strides.byte_strides, element);
  if (layout->tiled.num_tiles) return false;
  for (size_t i = 0; i < layout->tiled.minor_to_major_size; i++)
    if (layout->tiled.minor_to_major[i] != static_cast<int64_t>(dims.size() - 1 - i)) return false;
  return true;
}

Memory* Chosen(PJRT_Client* client, PJRT_Device* device, PJRT_Memory* memory) {
  if (memory) return Memory::Of(memory);
  return Memory::Of((device ? device : client->devices[0])->memories[0]);
}

// Runs on the device's stream, after what the array waits for; failures go on to `done`.
template <typename Work>
void After(PJRT_Device* device, std::shared_ptr<Signal> before, std::shared_ptr<Signal> done,
           Work work) {
  device->stream.Enqueue([before, done, work] {
    before->Wait();
    try {
      if (const Failure* failure = before->failure()) throw *failure;
      work();
    } catch (const Failure& failure) {
      done->Fail(failure);
      return;
    } catch (const std::exception& error) {
      done->Fail(Internal(std::string("ascend: ") + error.what()));
      return;
    }
    done->Set();
  });
}

void Move(Driver& driver, const Storage& to, int to_device, const Storage& from, int from_device) {
  const size_t n = from.bytes();
  if (!n) return;
  if (to.on_host() && from.on_host()) {
    std::memcpy(to.data(), from.data(), n);
  } else if (to.on_host()) {
    driver.ToHost(from_device, to.data(), from.data(), n);
  } else if (from.on_host()) {
    driver.ToDevice(to_device, to.data(), from.data(), n);
  } else if (to_device == from_device) {
    driver.Within(to_device, to.data(), from.data(), n);
  } else {
    std::vector<char> through(n);
    driver.ToHost(from_device, through.data(), from.data(), n);
    driver.ToDevice(to_device, to.data(), through.data(), n);
  }
}

PJRT_Buffer* CopyTo(PJRT_Buffer* buffer, Memory* memory) {
  auto from = buffer->storage("a copy");
  auto done = std::make_shared<Signal>();
  auto copy = std::make_unique<PJRT_Buffer>(memory, buffer->type, buffer->dims, done);
  PJRT_Device* source = buffer->memory->device;
  PJRT_Device* target = memory->device;
  After(target, buffer->ready, done,
        [from, to = copy->storage("a copy"), source, target] {
          Move(target->driver(), *to, target->description.id, *from, source->description.id);
        });
  return copy.release();
}

void ReadRaw(PJRT_Buffer* buffer, void* to, int64_t offset, int64_t bytes, PJRT_Event** event) {
  auto from = buffer->storage("a read");
  if (offset < 0 || bytes < 0 || static_cast<size_t>(offset + bytes) > from->bytes())
    throw InvalidArgument("ascend: a read of " + std::to_string(bytes) + " bytes at " +
                          std::to_string(offset) + " is outside an array of " +
                          std::to_string(from->bytes()));
  PJRT_Device* device = buffer->memory->device;
  auto read = [from, to, offset, bytes, device] {
    if (!bytes) return;
    if (from->on_host() || device->driver().host_visible())
      std::memcpy(to, from->data() + offset, bytes);
    else
      device->driver().ToHost(device->description.id, to, from->data() + offset, bytes);
  };
  if (buffer->ready->ready() && !buffer->ready->failure()) {
    read();
    *event = new PJRT_Event{Signal::Ready()};
    return;
  }
  auto done = std::make_shared<Signal>();
  After(device, buffer->ready, done, read);
  *event = new PJRT_Event{done};
}

}  // namespace

void Implement(PJRT_Client_BufferFromHostBuffer_Args* a) {
  Memory* memory = Chosen(a->client, a->device, a->memory);
  std::vector<int64_t> dims(a->dims, a->dims + a->num_dims);
  const size_t element = TypeBytes(a->type);
  if (!RowMajor(a->device_layout, dims, element))
    throw Failure(PJRT_Error_Code_UNIMPLEMENTED, "ascend: arrays are stored row-major only");
  auto buffer = std::make_unique<PJRT_Buffer>(memory, a->type, dims, Signal::Ready());
  auto storage = buffer->storage("a transfer");
  std::vector<char> dense;
  const void* data = a->data;
  if (storage->bytes()) {
    if (a->num_byte_strides && !Dense(dims, a->byte_strides, element)) {
      dense.resize(storage->bytes());
      CopyStrided(dense.data(), static_cast<const char*>(data), dims, a->byte_strides, 0, element);
      data = dense.data();
    }
    if (memory->on_host)
      std::memcpy(storage->data(), data, storage->bytes());
    else
      memory->device->driver().ToDevice(memory->device->description.id, storage->data(), data,
                                        storage->bytes());
  }
  a->done_with_host_buffer = new PJRT_Event{Signal::Ready()};
  a->buffer = buffer.release();
}

void Implement(PJRT_Client_CreateUninitializedBuffer_Args* a) {
  Memory* memory = Chosen(a->client, a->device, a->memory);
  std::vector<int64_t> dims(a->shape_dims, a->shape_dims + a->shape_num_dims);
  if (!RowMajor(a->shape_layout, dims, TypeBytes(a->shape_element_type)))
    throw Failure(PJRT_Error_Code_UNIMPLEMENTED, "ascend: arrays are stored row-major only");
  a->buffer = new PJRT_Buffer(memory, a->shape_element_type, dims, Signal::Ready());
}

void Implement(PJRT_Buffer_Destroy_Args* a) { delete a->buffer; }
void Implement(PJRT_Buffer_ElementType_Args* a) { a->type = a->buffer->type; }
void Implement(PJRT_Buffer_Dimensions_Args* a) {
  a->dims = a->buffer->dims.data();
  a->num_dims = a->buffer->dims.size();
}
void Implement(PJRT_Buffer_UnpaddedDimensions_Args* a) {
  a->unpadded_dims = a->buffer->dims.data();
  a->num_dims = a->buffer->dims.size();
}
void Implement(PJRT_Buffer_DynamicDimensionIndices_Args* a) {
  a->dynamic_dim_indices = nullptr;
  a->num_dynamic_dims = 0;
}
void Implement(PJRT_Buffer_GetMemoryLayout_Args* a) {
  a->layout = {};
  a->layout.struct_size = sizeof a->layout;
  a->layout.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
  a->layout.tiled.struct_size = sizeof a->layout.tiled;
  a->layout.tiled.minor_to_major = a->buffer->minor_to_major();
  a->layout.tiled.minor_to_major_size = a->buffer->dims.size();
}
void Implement(PJRT_Buffer_OnDeviceSizeInBytes_Args* a) {
  a->on_device_size_in_bytes = a->buffer->bytes();
}
void Implement(PJRT_Buffer_Device_Args* a) { a->device = a->buffer->memory->device; }
void Implement(PJRT_Buffer_Memory_Args* a) { a->memory = a->buffer->memory; }
void Implement(PJRT_Buffer_Delete_Args* a) { a->buffer->Delete(); }
void Implement(PJRT_Buffer_IsDeleted_Args* a) { a->is_deleted = a->buffer->deleted(); }
void Implement(PJRT_Buffer_IsOnCpu_Args* a) { a->is_on_cpu = false; }
void Implement(PJRT_Buffer_ReadyEvent_Args* a) { a->event = new PJRT_Event{a->buffer->ready}; }
void Implement(PJRT_Buffer_UnsafePointer_Args* a) {
  a->buffer_pointer = reinterpret_cast<uintptr_t>(a->buffer->storage("a pointer")->data());
}
void Implement(PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args* a) {
  a->device_memory_ptr = a->buffer->storage("a pointer")->data();
}
void Implement(PJRT_Buffer_IncreaseExternalReferenceCount_Args* a) { a->buffer->Hold(); }
void Implement(PJRT_Buffer_DecreaseExternalReferenceCount_Args* a) { a->buffer->Release(); }

void Implement(PJRT_Buffer_ToHostBuffer_Args* a) {
  if (!RowMajor(a->host_layout, a->src->dims, TypeBytes(a->src->type)))
    throw Failure(PJRT_Error_Code_UNIMPLEMENTED, "ascend: arrays are read row-major only");
  if (!a->dst) {
    a->dst_size = a->src->bytes();
    a->event = nullptr;
    return;
  }
  if (a->dst_size < a->src->bytes())
    throw InvalidArgument("ascend: the host's room is smaller than the array");
  ReadRaw(a->src, a->dst, 0, a->src->bytes(), &a->event);
}
void Implement(PJRT_Buffer_CopyRawToHost_Args* a) {
  ReadRaw(a->buffer, a->dst, a->offset, a->transfer_size, &a->event);
}
void Implement(PJRT_Buffer_CopyToDevice_Args* a) {
  a->dst_buffer = CopyTo(a->buffer, Memory::Of(a->dst_device->memories[0]));
}
void Implement(PJRT_Buffer_CopyToMemory_Args* a) {
  a->dst_buffer = CopyTo(a->buffer, Memory::Of(a->dst_memory));
}

}  // namespace ascend
