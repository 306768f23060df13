// The steps "gather" and "scatter": boxes of an array at places that another array holds.
#include <algorithm>
#include <cstring>

#include "map.h"
#include "odometer.h"
#include "program.h"

namespace ascend {
namespace {

// Both walk over places (batch) and within each over a box (window), with strides in the
// operand and in the other array (gather's output, scatter's updates).
struct Indexing {
  MapOp op;
  std::vector<int64_t> batch, window;
  std::vector<int64_t> batch_strides[3];   // of the indices, of the other array, of the operand
  std::vector<int64_t> window_strides[2];  // of the operand, of the other array
  std::vector<int64_t> index_limits;       // highest start along each indexed axis
  std::vector<int64_t> index_strides;      // of those axes in the operand
  int64_t component;                       // stride between components of an index
};

std::shared_ptr<void> PrepareIndexing(const Step& step, const Program&) {
  Numbers in(step.ints);
  auto x = std::make_shared<Indexing>();
  x->op = static_cast<MapOp>(in.Next());
  x->batch = in.Counted();
  for (auto& strides : x->batch_strides) strides = in.List(x->batch.size());
  x->window = in.Counted();
  for (auto& strides : x->window_strides) strides = in.List(x->window.size());
  x->index_limits = in.Counted();
  x->index_strides = in.List(x->index_limits.size());
  x->component = in.Next();
  return x;
}

int64_t IndexAt(const char* data, int type, int64_t at) {
  switch (type) {
    case PJRT_Buffer_Type_S8: return reinterpret_cast<const int8_t*>(data)[at];
    case PJRT_Buffer_Type_U8: return reinterpret_cast<const uint8_t*>(data)[at];
    case PJRT_Buffer_Type_S16: return reinterpret_cast<const int16_t*>(data)[at];
    case PJRT_Buffer_Type_U16: return reinterpret_cast<const uint16_t*>(data)[at];
    case PJRT_Buffer_Type_S32: return reinterpret_cast<const int32_t*>(data)[at];
    case PJRT_Buffer_Type_U32: return reinterpret_cast<const uint32_t*>(data)[at];
    default: return reinterpret_cast<const int64_t*>(data)[at];
  }
}

// Calls `run(operand offset, other offset, length)` for each contiguous run of each place; a place
// that reaches outside is moved inside (gather) or left out (scatter).
template <typename F>
void Walk(const Indexing& x, const char* indices, int type, bool clamp, F run) {
  int64_t length = 1;
  size_t outer = x.window.size();
  // The innermost axes that are dense in both arrays make up a run.
  while (outer > 0 && x.window_strides[0][outer - 1] == length &&
         x.window_strides[1][outer - 1] == length)
    length *= x.window[--outer];
  const std::vector<int64_t> dims(x.window.begin(), x.window.begin() + outer);
  const std::vector<int64_t> strides[2] = {
      {x.window_strides[0].begin(), x.window_strides[0].begin() + outer},
      {x.window_strides[1].begin(), x.window_strides[1].begin() + outer}};
  const int64_t boxes = Elements(x.batch), runs = Elements(dims);
  if (!runs || !length) return;
  Odometer<3> place(x.batch, x.batch_strides);
  for (int64_t i = 0; i < boxes; i++, place.Next()) {
    int64_t start = place.offset[2];
    bool inside = true;
    for (size_t axis = 0; axis < x.index_limits.size(); axis++) {
      int64_t at = IndexAt(indices, type, place.offset[0] + axis * x.component);
      if (type == PJRT_Buffer_Type_U64 && at < 0) at = x.index_limits[axis] + 1;
      inside &= at >= 0 && at <= x.index_limits[axis];
      start += std::clamp<int64_t>(at, 0, x.index_limits[axis]) * x.index_strides[axis];
    }
    if (!clamp && !inside) continue;
    Odometer<2> within(dims, strides);
    for (int64_t r = 0; r < runs; r++, within.Next())
      run(start + within.offset[0], place.offset[1] + within.offset[1], length);
  }
}

template <typename T>
void GatherOf(const Indexing& x, const char* operand, const char* indices, int type, char* to) {
  const T* from = reinterpret_cast<const T*>(operand);
  T* result = reinterpret_cast<T*>(to);
  Walk(x, indices, type, true, [&](int64_t source, int64_t target, int64_t n) {
    if (n == 1)
      result[target] = from[source];
    else
      std::memcpy(result + target, from + source, n * sizeof(T));
  });
}

void RunGather(const Step& step, Frame& frame) {
  const Indexing& x = *static_cast<const Indexing*>(step.prepared.get());
  const char *operand = frame.data[step.inputs[0]], *indices = frame.data[step.inputs[1]];
  const int type = frame.value(step.inputs[1]).type;
  char* to = frame.data[step.outputs[0]];
  switch (TypeBytes(frame.value(step.outputs[0]).type)) {
    case 1: return GatherOf<uint8_t>(x, operand, indices, type, to);
    case 2: return GatherOf<uint16_t>(x, operand, indices, type, to);
    case 4: return GatherOf<uint32_t>(x, operand, indices, type, to);
    default: return GatherOf<uint64_t>(x, operand, indices, type, to);
  }
}

// Inputs: operand, indices, updates.
void RunScatter(const Step& step, Frame& frame) {
  const Indexing& x = *static_cast<const Indexing*>(step.prepared.get());
  const Value& value = frame.value(step.outputs[0]);
  const size_t element = TypeBytes(value.type);
  char* to = frame.data[step.outputs[0]];
  if (to != frame.data[step.inputs[0]]) std::memcpy(to, frame.data[step.inputs[0]], value.bytes);
  const char* updates = frame.data[step.inputs[2]];
  const bool replace = x.op == MapOp::k_copy;
  const MapFunction combine = replace ? nullptr : FindMapFunction(x.op, value.type, 0);
  char* scratch = Scratch(kBlock * 8);
  Walk(x, frame.data[step.inputs[1]], frame.value(step.inputs[1]).type, false,
       [&](int64_t target, int64_t source, int64_t n) {
         char* r = to + target * element;
         const char* u = updates + source * element;
         if (replace) {
           std::memcpy(r, u, n * element);
           return;
         }
         for (int64_t at = 0; at < n; at += kBlock) {
           const int64_t count = std::min(kBlock, n - at);
           combine(scratch, r + at * element, u + at * element, nullptr, count);
           std::memcpy(r + at * element, scratch, count * element);
         }
       });
}

const Registration gather("gather", RunGather, PrepareIndexing);
const Registration scatter("scatter", RunScatter, PrepareIndexing);

}  // namespace
}  // namespace ascend
