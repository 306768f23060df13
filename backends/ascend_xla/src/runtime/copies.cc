// Steps that move elements without computing: strided copies, dynamic slices, filling.
#include <algorithm>
#include <cstring>

#include "odometer.h"
#include "parallel.h"
#include "program.h"

namespace ascend {
namespace {

template <typename T>
void CopyRows(char* to_bytes, const char* from_bytes, const std::vector<int64_t>& dims,
              const std::vector<int64_t>& to_strides, const std::vector<int64_t>& from_strides) {
  T* to = reinterpret_cast<T*>(to_bytes);
  const T* from = reinterpret_cast<const T*>(from_bytes);
  if (dims.empty()) {
    *to = *from;
    return;
  }
  const int64_t width = dims.back(), a = to_strides.back(), b = from_strides.back();
  const std::vector<int64_t> outer(dims.begin(), dims.end() - 1);
  const std::vector<int64_t> strides[2] = {{to_strides.begin(), to_strides.end() - 1},
                                           {from_strides.begin(), from_strides.end() - 1}};
  if (!width) return;
  ParallelFor(Elements(outer), 65536 / width + 1, [&](int64_t begin, int64_t end) {
    Odometer<2> at(outer, strides);
    at.Seek(begin);
    for (int64_t i = begin; i < end; i++, at.Next()) {
      T* r = to + at.offset[0];
      const T* x = from + at.offset[1];
      if (a == 1 && b == 1)
        std::memcpy(r, x, width * sizeof(T));
      else
        for (int64_t j = 0; j < width; j++) r[j * a] = x[j * b];
    }
  });
}

void Copy(char* to, const char* from, size_t element, const std::vector<int64_t>& dims,
          const std::vector<int64_t>& to_strides, const std::vector<int64_t>& from_strides) {
  switch (element) {
    case 1: return CopyRows<uint8_t>(to, from, dims, to_strides, from_strides);
    case 2: return CopyRows<uint16_t>(to, from, dims, to_strides, from_strides);
    case 4: return CopyRows<uint32_t>(to, from, dims, to_strides, from_strides);
    default: return CopyRows<uint64_t>(to, from, dims, to_strides, from_strides);
  }
}

// "fill": every element of the output is the scalar input.
void RunFill(const Step& step, Frame& frame) {
  const Value& value = frame.value(step.outputs[0]);
  const size_t element = TypeBytes(value.type);
  char* to = frame.data[step.outputs[0]];
  const char* from = frame.data[step.inputs[0]];
  const size_t bytes = value.elements * element;
  if (!bytes) return;
  // What is filled is copied behind itself.
  std::memcpy(to, from, element);
  for (size_t done = element; done < bytes;) {
    const size_t more = std::min(std::min(done, size_t(4096)), bytes - done);
    std::memcpy(to + done, to, more);
    done += more;
  }
}

// "copy": a box of the input goes to a box of the output; other elements stay as they are.
struct Box {
  std::vector<int64_t> dims, to_strides, from_strides;
  int64_t to_offset, from_offset;
};

std::shared_ptr<void> PrepareCopy(const Step& step, const Program&) {
  Numbers in(step.ints);
  auto box = std::make_shared<Box>();
  box->dims = in.Counted();
  box->to_offset = in.Next();
  box->to_strides = in.List(box->dims.size());
  box->from_offset = in.Next();
  box->from_strides = in.List(box->dims.size());
  return box;
}

void RunCopy(const Step& step, Frame& frame) {
  const Box& box = *static_cast<const Box*>(step.prepared.get());
  const size_t element = TypeBytes(frame.value(step.outputs[0]).type);
  Copy(frame.data[step.outputs[0]] + box.to_offset * element,
       frame.data[step.inputs[0]] + box.from_offset * element, element, box.dims, box.to_strides,
       box.from_strides);
}

// "move": all bytes, whatever their types.
void RunMove(const Step& step, Frame& frame) {
  char* to = frame.data[step.outputs[0]];
  const char* from = frame.data[step.inputs[0]];
  if (to != from) std::memmove(to, from, frame.value(step.outputs[0]).bytes);
}

int64_t IndexAt(const Frame& frame, int id, int64_t at = 0) {
  const char* data = frame.data[id];
  switch (frame.value(id).type) {
    case PJRT_Buffer_Type_S8: return reinterpret_cast<const int8_t*>(data)[at];
    case PJRT_Buffer_Type_U8: return reinterpret_cast<const uint8_t*>(data)[at];
    case PJRT_Buffer_Type_S16: return reinterpret_cast<const int16_t*>(data)[at];
    case PJRT_Buffer_Type_U16: return reinterpret_cast<const uint16_t*>(data)[at];
    case PJRT_Buffer_Type_S32: return reinterpret_cast<const int32_t*>(data)[at];
    case PJRT_Buffer_Type_U32: return reinterpret_cast<const uint32_t*>(data)[at];
    default: return reinterpret_cast<const int64_t*>(data)[at];
  }
}

int64_t Start(const Step& step, const Frame& frame, size_t first,
              const std::vector<int64_t>& whole, const std::vector<int64_t>& part) {
  const std::vector<int64_t> strides = RowMajorStrides(whole);
  int64_t offset = 0;
  for (size_t i = 0; i < whole.size(); i++) {
    const int64_t start = IndexAt(frame, step.inputs[first + i]);
    offset += std::clamp<int64_t>(start, 0, whole[i] - part[i]) * strides[i];
  }
  return offset;
}

void RunDynamicSlice(const Step& step, Frame& frame) {
  const Value &whole = frame.value(step.inputs[0]), &part = frame.value(step.outputs[0]);
  const size_t element = TypeBytes(part.type);
  const int64_t offset = Start(step, frame, 1, whole.dims, part.dims);
  Copy(frame.data[step.outputs[0]], frame.data[step.inputs[0]] + offset * element, element,
       part.dims, RowMajorStrides(part.dims), RowMajorStrides(whole.dims));
}

// Inputs: whole, part, starts. The output may lie where the whole does.
void RunDynamicUpdateSlice(const Step& step, Frame& frame) {
  const Value &whole = frame.value(step.inputs[0]), &part = frame.value(step.inputs[1]);
  const size_t element = TypeBytes(part.type);
  const int64_t offset = Start(step, frame, 2, whole.dims, part.dims);
  char* to = frame.data[step.outputs[0]];
  if (to != frame.data[step.inputs[0]]) std::memcpy(to, frame.data[step.inputs[0]], whole.bytes);
  Copy(to + offset * element, frame.data[step.inputs[1]], element, part.dims,
       RowMajorStrides(whole.dims), RowMajorStrides(part.dims));
}

// "iota": numbers along one axis, of the types that count.
void RunIota(const Step& step, Frame& frame) {
  const Value& value = frame.value(step.outputs[0]);
  const int64_t axis = step.ints.at(0);
  int64_t inner = 1;
  for (size_t i = axis + 1; i < value.dims.size(); i++) inner *= value.dims[i];
  const int64_t length = value.dims[axis];
  char* to = frame.data[step.outputs[0]];
  auto fill = [&](auto* data) {
    typedef std::remove_reference_t<decltype(*data)> T;
    for (int64_t i = 0; i < value.elements; i++)
      data[i] = static_cast<T>(i / inner % length);
  };
  switch (value.type) {
    case PJRT_Buffer_Type_S8: case PJRT_Buffer_Type_U8: return fill(reinterpret_cast<uint8_t*>(to));
    case PJRT_Buffer_Type_S16: case PJRT_Buffer_Type_U16:
      return fill(reinterpret_cast<uint16_t*>(to));
    case PJRT_Buffer_Type_S32: case PJRT_Buffer_Type_U32:
      return fill(reinterpret_cast<uint32_t*>(to));
    case PJRT_Buffer_Type_F32: return fill(reinterpret_cast<float*>(to));
    case PJRT_Buffer_Type_F64: return fill(reinterpret_cast<double*>(to));
    default: return fill(reinterpret_cast<int64_t*>(to));
  }
}

const Registration fill("fill", RunFill);
const Registration copy("copy", RunCopy, PrepareCopy);
const Registration move("move", RunMove);
const Registration dynamic_slice("dynamic_slice", RunDynamicSlice);
const Registration dynamic_update_slice("dynamic_update_slice", RunDynamicUpdateSlice);
const Registration iota("iota", RunIota);

}  // namespace
}  // namespace ascend
