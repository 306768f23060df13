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
  int64_t taps;
  std::vector<int64_t> tap_index, tap_offset;  // of each tap: its place on each axis, in elements
  explicit Windows(Numbers numbers) {
    op = static_cast<MapOp>(numbers.Next());
    in = numbers.Counted();
    out = numbers.List(in.size());
    window = numbers.List(in.size());
    stride = numbers.List(in.size());
    dilation = numbers.List(in.size());
    low = numbers.List(in.size());
    in_strides = RowMajorStrides(in);
    taps = Elements(window);
    tap_index.resize(taps * in.size());
    tap_offset.assign(taps, 0);
    const std::vector<int64_t> none[1] = {std::vector<int64_t>(in.size(), 0)};
    Odometer<1> tap(window, none);
    for (int64_t t = 0; t < taps; t++, tap.Next())
      for (size_t axis = 0; axis < in.size(); axis++) {
        const int64_t shift = tap.index[axis] * dilation[axis];
        tap_index[t * in.size() + axis] = shift;
        tap_offset[t] += shift * in_strides[axis];
      }
  }
  // Where an axis's window begins for an output, and whether it lies in the input.
  int64_t Start(size_t axis, int64_t place) const { return place * stride[axis] - low[axis]; }
  bool Whole(size_t axis, int64_t place) const {
    const int64_t start = Start(axis, place);
    return start >= 0 && start + (window[axis] - 1) * dilation[axis] < in[axis];
  }
  // The outputs [first, last) of an axis whose windows lie in the input.
  void WholeRange(size_t axis, int64_t* first, int64_t* last) const {
    *first = 0;
    while (*first < out[axis] && !Whole(axis, *first)) ++*first;
    *last = *first;
    while (*last < out[axis] && Whole(axis, *last)) ++*last;
  }
  // The outputs [first, last) of an axis for which what a tap sees is inside the input.
  void Inside(size_t axis, int64_t tap, int64_t* first, int64_t* last) const {
    const int64_t shift = tap - low[axis];
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
  const int64_t taps = w.taps, step = w.stride.back();
  int64_t low, high;
  w.WholeRange(rank - 1, &low, &high);
  ParallelFor(Elements(outer), 32768 / (width * taps + 1) + 1, [&](int64_t begin, int64_t end) {
    const std::vector<int64_t> none[1] = {std::vector<int64_t>(rank - 1, 0)};
    Odometer<1> place(outer, none);
    place.Seek(begin);
    for (int64_t row = begin; row < end; row++, place.Next()) {
      T* __restrict to_row = result + row * width;
      int64_t base = w.Start(rank - 1, 0);
      bool whole = low == 0 && high == width;
      for (size_t axis = 0; axis + 1 < rank; axis++) {
        base += w.Start(axis, place.index[axis]) * w.in_strides[axis];
        whole &= w.Whole(axis, place.index[axis]);
      }
      if (whole && width < 64) {
        for (int64_t j = 0; j < width; j++) {
          const T* y = x + base + j * step;
          T found = to_row[j];
          for (int64_t t = 0; t < taps; t++) found = f(found, y[w.tap_offset[t]]);
          to_row[j] = found;
        }
        continue;
      }
      for (int64_t t = 0; t < taps; t++) {
        const int64_t* tap = w.tap_index.data() + t * rank;
        bool inside = true;
        for (size_t axis = 0; axis + 1 < rank; axis++) {
          const int64_t at = w.Start(axis, place.index[axis]) + tap[axis];
          inside &= at >= 0 && at < w.in[axis];
        }
        if (!inside) continue;
        int64_t first, last;
        w.Inside(rank - 1, tap[rank - 1], &first, &last);
        const T* __restrict y = x + base + w.tap_offset[t];
        if (step == 1)
          for (int64_t j = first; j < last; j++) to_row[j] = f(to_row[j], y[j]);
        else
          for (int64_t j = first; j < last; j++) to_row[j] = f(to_row[j], y[j * step]);
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
  const T start = *reinterpret_cast<const T*>(init);
  const size_t rank = w.in.size();
  if (!rank) {
    result[0] = start + source[0];
    return;
  }
  // Along these first axes no two windows share a place: threads may take them apart.
  size_t apart = 0;
  int64_t items = 1;
  for (; apart + 1 < rank && w.window[apart] == 1 && w.stride[apart] == 1 && !w.low[apart] &&
         w.in[apart] == w.out[apart];
       apart++)
    items *= w.out[apart];
  const std::vector<int64_t> outer(w.out.begin(), w.out.end() - 1);
  const int64_t taps = w.taps, width = w.out.back(), step = w.stride.back();
  const int64_t lines = items ? Elements(outer) / items : 0;
  const int64_t area = items ? Elements(w.in) / items : 0;
  if (!lines || !width) {
    std::fill(result, result + Elements(w.in), start);
    return;
  }
  int64_t low, high;
  w.WholeRange(rank - 1, &low, &high);
  ParallelFor(items, 16384 / (lines * width * taps + 1) + 1, [&](int64_t begin, int64_t end) {
    std::fill(result + begin * area, result + end * area, start);
    const std::vector<int64_t> none[1] = {std::vector<int64_t>(rank - 1, 0)};
    Odometer<1> place(outer, none);
    place.Seek(begin * lines);
    for (int64_t row = begin * lines; row < end * lines; row++, place.Next()) {
      const T* from = source + row * width;
      int64_t base = w.Start(rank - 1, 0);
      bool whole = true;
      for (size_t axis = 0; axis + 1 < rank; axis++) {
        base += w.Start(axis, place.index[axis]) * w.in_strides[axis];
        whole &= w.Whole(axis, place.index[axis]);
      }
      for (int64_t j = 0; j < width; j++) {
        const int64_t here = base + j * step;
        if (whole && j >= low && j < high) {
          int64_t best = here + w.tap_offset[0];
          for (int64_t t = 1; t < taps; t++) {
            const int64_t at = here + w.tap_offset[t];
            // Chosen without a branch, which the next number would often take otherwise.
            const int64_t turns = -static_cast<int64_t>(!better(operand[best], operand[at]));
            best += (at - best) & turns;
          }
          result[best] += from[j];
          continue;
        }
        int64_t best = -1;
        for (int64_t t = 0; t < taps; t++) {
          const int64_t* tap = w.tap_index.data() + t * rank;
          const int64_t last = w.Start(rank - 1, j) + tap[rank - 1];
          bool inside = last >= 0 && last < w.in[rank - 1];
          for (size_t axis = 0; axis + 1 < rank; axis++) {
            const int64_t at = w.Start(axis, place.index[axis]) + tap[axis];
            inside &= at >= 0 && at < w.in[axis];
          }
          const int64_t at = here + w.tap_offset[t];
          if (inside && (best < 0 || !better(operand[best], operand[at]))) best = at;
        }
        if (best >= 0) result[best] += from[j];
      }
    }
  });
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
