// The steps "reduce_window" and "select_and_scatter": pooling and its gradient.
#include <algorithm>
#include <cstring>
#include <vector>

#include "map.h"
#include "odometer.h"
#include "parallel.h"

namespace ascend {
namespace {

struct Windows {
  MapOp op;
  std::vector<int64_t> in, out, window, stride, dilation, low;
  std::vector<int64_t> in_strides;
  explicit Windows(Numbers numbers) {
    op = static_cast<MapOp>(numbers.Next());
    in = numbers.Counted();
    out = numbers.List(in.size());
    window = numbers.List(in.size());
    stride = numbers.List(in.size());
    dilation = numbers.List(in.size());
    low = numbers.List(in.size());
    in_strides = RowMajorStrides(in);
  }
  // The outputs [first, last) of an axis for which a tap of the window is inside the input.
  void Inside(size_t axis, int64_t tap, int64_t* first, int64_t* last) const {
    const int64_t shift = tap * dilation[axis] - low[axis];
    *first = shift >= 0 ? 0 : (-shift + stride[axis] - 1) / stride[axis];
    const int64_t room = in[axis] - 1 - shift;
    *last = room < 0 ? 0 : std::min(out[axis], room / stride[axis] + 1);
  }
};

std::shared_ptr<void> PrepareWindows(const Step& step, const Program&) {
  return std::make_shared<Windows>(Numbers(step.ints));
}

template <typename T, typename F>
void Pool(const Windows& w, const char* from, const char* init, char* to, F f) {
  const T* x = reinterpret_cast<const T*>(from);
  T* result = reinterpret_cast<T*>(to);
  const size_t rank = w.out.size();
  const int64_t width = rank ? w.out.back() : 1;
  std::fill(result, result + Elements(w.out), *reinterpret_cast<const T*>(init));
  if (!rank) {
    result[0] = f(result[0], x[0]);
    return;
  }
  const std::vector<int64_t> outer(w.out.begin(), w.out.end() - 1);
  const int64_t taps = Elements(w.window);
  ParallelFor(Elements(outer), 32768 / (width * taps + 1) + 1, [&](int64_t begin, int64_t end) {
    const std::vector<int64_t> none[1] = {std::vector<int64_t>(rank - 1, 0)};
    Odometer<1> place(outer, none);
    place.Seek(begin);
    for (int64_t row = begin; row < end; row++, place.Next()) {
      T* __restrict to_row = result + row * width;
      std::vector<int64_t> tap(rank, 0);
      for (int64_t t = 0; t < taps; t++) {
        int64_t offset = 0;
        bool inside = true;
        for (size_t axis = 0; axis + 1 < rank; axis++) {
          const int64_t at =
              place.index[axis] * w.stride[axis] + tap[axis] * w.dilation[axis] - w.low[axis];
          inside &= at >= 0 && at < w.in[axis];
          offset += at * w.in_strides[axis];
        }
        if (inside) {
          int64_t first, last;
          w.Inside(rank - 1, tap[rank - 1], &first, &last);
          const int64_t step = w.stride[rank - 1];
          const T* __restrict y =
              x + offset + tap[rank - 1] * w.dilation[rank - 1] - w.low[rank - 1];
          if (step == 1)
            for (int64_t j = first; j < last; j++) to_row[j] = f(to_row[j], y[j]);
          else
            for (int64_t j = first; j < last; j++) to_row[j] = f(to_row[j], y[j * step]);
        }
        for (size_t axis = rank; axis-- > 0;) {
          if (++tap[axis] < w.window[axis]) break;
          tap[axis] = 0;
        }
      }
    }
  });
}

template <typename T>
void PoolOf(const Windows& w, const char* from, const char* init, char* to) {
  switch (w.op) {
    case MapOp::k_add: return Pool<T>(w, from, init, to, [](T a, T b) { return a + b; });
    case MapOp::k_multiply: return Pool<T>(w, from, init, to, [](T a, T b) { return a * b; });
    case MapOp::k_maximum:
      return Pool<T>(w, from, init, to, [](T a, T b) { return a != a || a > b ? a : b; });
    default:
      return Pool<T>(w, from, init, to, [](T a, T b) { return a != a || a < b ? a : b; });
  }
}

void RunWindows(const Step& step, Frame& frame) {
  const Windows& w = *static_cast<const Windows*>(step.prepared.get());
  const char *from = frame.data[step.inputs[0]], *init = frame.data[step.inputs[1]];
  char* to = frame.data[step.outputs[0]];
  switch (frame.value(step.outputs[0]).type) {
    case PJRT_Buffer_Type_F32: return PoolOf<float>(w, from, init, to);
    case PJRT_Buffer_Type_F64: return PoolOf<double>(w, from, init, to);
    case PJRT_Buffer_Type_S32: return PoolOf<int32_t>(w, from, init, to);
    case PJRT_Buffer_Type_U32: return PoolOf<uint32_t>(w, from, init, to);
    default: return PoolOf<int64_t>(w, from, init, to);
  }
}

// Each source goes to the first place of its window that holds the window's extreme.
template <typename T, typename Better>
void ScatterSelected(const Windows& w, const char* operand_bytes, const char* source_bytes,
                     const char* init, char* to, Better better) {
  const T* operand = reinterpret_cast<const T*>(operand_bytes);
  const T* source = reinterpret_cast<const T*>(source_bytes);
  T* result = reinterpret_cast<T*>(to);
  std::fill(result, result + Elements(w.in), *reinterpret_cast<const T*>(init));
  const size_t rank = w.in.size();
  const std::vector<int64_t> none[1] = {std::vector<int64_t>(rank, 0)};
  Odometer<1> place(w.out, none);
  const int64_t taps = Elements(w.window), count = Elements(w.out);
  std::vector<int64_t> tap_index(taps * rank), tap_offset(taps);
  Odometer<1> tap(w.window, none);
  for (int64_t t = 0; t < taps; t++, tap.Next())
    for (size_t axis = 0; axis < rank; axis++) {
      tap_index[t * rank + axis] = tap.index[axis];
      tap_offset[t] += tap.index[axis] * w.in_strides[axis];
    }
  for (int64_t o = 0; o < count; o++, place.Next()) {
    int64_t base = 0;
    bool whole = true;
    for (size_t axis = 0; axis < rank; axis++) {
      const int64_t start = place.index[axis] * w.stride[axis] - w.low[axis];
      whole &= start >= 0 && start + w.window[axis] <= w.in[axis];
      base += start * w.in_strides[axis];
    }
    int64_t best = -1;
    for (int64_t t = 0; t < taps; t++) {
      if (!whole) {
        bool inside = true;
        for (size_t axis = 0; axis < rank; axis++) {
          const int64_t at = place.index[axis] * w.stride[axis] - w.low[axis] +
                             tap_index[t * rank + axis];
          inside &= at >= 0 && at < w.in[axis];
        }
        if (!inside) continue;
      }
      const int64_t at = base + tap_offset[t];
      if (best < 0 || !better(operand[best], operand[at])) best = at;
    }
    if (best >= 0) result[best] += source[o];
  }
}

template <typename T>
void ScatterOf(const Windows& w, const Step& step, Frame& frame) {
  const char* operand = frame.data[step.inputs[0]];
  const char* source = frame.data[step.inputs[1]];
  const char* init = frame.data[step.inputs[2]];
  char* to = frame.data[step.outputs[0]];
  // The select keeps what is chosen already if it compares so with the next.
  switch (w.op) {
    case MapOp::k_ge:
      return ScatterSelected<T>(w, operand, source, init, to, [](T a, T b) { return a >= b; });
    case MapOp::k_gt:
      return ScatterSelected<T>(w, operand, source, init, to, [](T a, T b) { return a > b; });
    case MapOp::k_le:
      return ScatterSelected<T>(w, operand, source, init, to, [](T a, T b) { return a <= b; });
    default:
      return ScatterSelected<T>(w, operand, source, init, to, [](T a, T b) { return a < b; });
  }
}

void RunScatterSelected(const Step& step, Frame& frame) {
  const Windows& w = *static_cast<const Windows*>(step.prepared.get());
  if (frame.value(step.outputs[0]).type == PJRT_Buffer_Type_F64)
    ScatterOf<double>(w, step, frame);
  else
    ScatterOf<float>(w, step, frame);
}

const Registration pooling("reduce_window", RunWindows, PrepareWindows);
const Registration selection("select_and_scatter", RunScatterSelected, PrepareWindows);

}  // namespace
}  // namespace ascend
