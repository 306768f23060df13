// The step "reduce": one operator over some axes, or any scalar program over several arrays.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "map.h"
#include "odometer.h"
#include "parallel.h"

namespace ascend {
namespace {

struct Reduce {
  ScalarCode code;
  std::vector<int64_t> kept, kept_strides[1], reduced, reduced_strides[1];
  int64_t outputs, terms;
  MapOp op;
  explicit Reduce(Numbers in) : code(in) {
    kept = in.Counted();
    kept_strides[0] = in.List(kept.size());
    reduced = in.Counted();
    reduced_strides[0] = in.List(reduced.size());
    outputs = Elements(kept);
    terms = Elements(reduced);
    op = code.single();
  }
};

template <typename T>
struct Add {
  static T Of(T a, T b) { return a + b; }
};
template <typename T>
struct Multiply {
  static T Of(T a, T b) { return a * b; }
};
template <typename T>
struct Maximum {
  static T Of(T a, T b) { return a != a || a > b ? a : b; }
};
template <typename T>
struct Minimum {
  static T Of(T a, T b) { return a != a || a < b ? a : b; }
};
template <typename T>
struct And {
  static T Of(T a, T b) { return a & b; }
};
template <typename T>
struct Or {
  static T Of(T a, T b) { return a | b; }
};

// Sixteen running results keep the vector units busy and the rounding small.
template <typename T, template <typename> class Op>
T Run(const T* x, int64_t n, T start) {
  constexpr int kLanes = 16;
  if (n < 2 * kLanes) {
    for (int64_t i = 0; i < n; i++) start = Op<T>::Of(start, x[i]);
    return start;
  }
  T lane[kLanes];
  for (int j = 0; j < kLanes; j++) lane[j] = x[j];
  int64_t i = kLanes;
  for (; i + kLanes <= n; i += kLanes)
    for (int j = 0; j < kLanes; j++) lane[j] = Op<T>::Of(lane[j], x[i + j]);
  for (int width = kLanes / 2; width; width /= 2)
    for (int j = 0; j < width; j++) lane[j] = Op<T>::Of(lane[j], lane[j + width]);
  T result = lane[0];
  for (; i < n; i++) result = Op<T>::Of(result, x[i]);
  return Op<T>::Of(start, result);
}

template <typename T, template <typename> class Op>
void Simple(const Reduce& reduce, const char* from, const char* init, char* to) {
  const T* x = reinterpret_cast<const T*>(from);
  const T start = *reinterpret_cast<const T*>(init);
  T* result = reinterpret_cast<T*>(to);
  const std::vector<int64_t>&kept = reduce.kept, &reduced = reduce.reduced;
  const auto& kept_strides = reduce.kept_strides[0];
  if (!reduced.empty() && reduce.reduced_strides[0].back() == 1) {
    const std::vector<int64_t> outer(reduced.begin(), reduced.end() - 1);
    const std::vector<int64_t> strides[1] = {
        {reduce.reduced_strides[0].begin(), reduce.reduced_strides[0].end() - 1}};
    ParallelFor(reduce.outputs, 65536 / (reduce.terms + 1) + 1, [&](int64_t begin, int64_t end) {
      Odometer<1> at(kept, reduce.kept_strides);
      at.Seek(begin);
      for (int64_t o = begin; o < end; o++, at.Next()) {
        T total = start;
        Odometer<1> inner(outer, strides);
        for (int64_t i = Elements(outer); i-- > 0; inner.Next())
          total = Run<T, Op>(x + at.offset[0] + inner.offset[0], reduced.back(), total);
        result[o] = total;
      }
    });
    return;
  }
  // Rows of outputs take one term after another.
  const int64_t width = kept.empty() ? 1 : kept.back();
  const int64_t stride = kept.empty() ? 0 : kept_strides.back();
  const std::vector<int64_t> outer(kept.begin(), kept.empty() ? kept.end() : kept.end() - 1);
  const std::vector<int64_t> strides[1] = {
      {kept_strides.begin(), kept.empty() ? kept_strides.end() : kept_strides.end() - 1}};
  ParallelFor(width ? reduce.outputs / width : 0, 65536 / (reduce.terms * width + 1) + 1,
              [&](int64_t begin, int64_t end) {
                Odometer<1> at(outer, strides);
                at.Seek(begin);
                for (int64_t o = begin; o < end; o++, at.Next()) {
                  T* __restrict row = result + o * width;
                  for (int64_t j = 0; j < width; j++) row[j] = start;
                  Odometer<1> term(reduced, reduce.reduced_strides);
                  for (int64_t i = reduce.terms; i-- > 0; term.Next()) {
                    const T* __restrict y = x + at.offset[0] + term.offset[0];
                    if (stride == 1)
                      for (int64_t j = 0; j < width; j++) row[j] = Op<T>::Of(row[j], y[j]);
                    else
                      for (int64_t j = 0; j < width; j++)
                        row[j] = Op<T>::Of(row[j], y[j * stride]);
                  }
                }
              });
}

typedef void (*SimpleFunction)(const Reduce&, const char*, const char*, char*);

template <typename T>
SimpleFunction FindSimple(MapOp op) {
  switch (op) {
    case MapOp::k_add: return Simple<T, Add>;
    case MapOp::k_multiply: return Simple<T, Multiply>;
    case MapOp::k_maximum: return Simple<T, Maximum>;
    case MapOp::k_minimum: return Simple<T, Minimum>;
    default: break;
  }
  if constexpr (std::is_integral_v<T>) {
    if (op == MapOp::k_bitwise_and) return Simple<T, And>;
    if (op == MapOp::k_bitwise_or) return Simple<T, Or>;
  }
  return nullptr;
}

SimpleFunction FindSimple(MapOp op, int type) {
  switch (type) {
    case PJRT_Buffer_Type_F32: return FindSimple<float>(op);
    case PJRT_Buffer_Type_F64: return FindSimple<double>(op);
    case PJRT_Buffer_Type_S32: return FindSimple<int32_t>(op);
    case PJRT_Buffer_Type_U32: return FindSimple<uint32_t>(op);
    case PJRT_Buffer_Type_S64: return FindSimple<int64_t>(op);
    // Truth values are zero and one: and, or are minimum, maximum.
    case PJRT_Buffer_Type_PRED:
      return op == MapOp::k_bitwise_and || op == MapOp::k_bitwise_or ? FindSimple<uint8_t>(op)
                                                                     : nullptr;
    default: return nullptr;
  }
}

// Any scalar program: blocks of outputs take one term after another.
void General(const Reduce& reduce, const Step& step, Frame& frame) {
  const ScalarCode& code = reduce.code;
  const int arrays = static_cast<int>(step.outputs.size());
  std::vector<size_t> element(arrays);
  for (int k = 0; k < arrays; k++) element[k] = TypeBytes(frame.value(step.outputs[k]).type);
  ParallelFor(reduce.outputs, 16384 / (reduce.terms + 1) + 1, [&](int64_t first, int64_t last) {
    // Running results, terms and new results, a block each; then registers.
    const int64_t room = std::min(kBlock, last - first) * 8;
    char* scratch = Scratch(room * (3 * arrays + code.registers));
    std::vector<char*> slots(code.inputs + code.registers + code.outputs);
    for (int r = 0; r < code.registers; r++)
      slots[code.inputs + r] = scratch + room * (3 * arrays + r);
    std::vector<char*> running(arrays), term(arrays), fresh(arrays);
    for (int k = 0; k < arrays; k++) {
      running[k] = scratch + room * k;
      term[k] = scratch + room * (arrays + k);
      fresh[k] = scratch + room * (2 * arrays + k);
    }
    code.FillConstants(slots.data(), std::min(kBlock, last - first));
    std::vector<int64_t> offsets(kBlock);
    Odometer<1> at(reduce.kept, reduce.kept_strides);
    at.Seek(first);
    for (int64_t begin = first; begin < last; begin += kBlock) {
      const int64_t n = std::min(kBlock, last - begin);
      for (int64_t i = 0; i < n; i++, at.Next()) offsets[i] = at.offset[0];
      for (int k = 0; k < arrays; k++)
        for (int64_t i = 0; i < n; i++)
          std::memcpy(running[k] + i * element[k], frame.data[step.inputs[arrays + k]],
                      element[k]);
      Odometer<1> inner(reduce.reduced, reduce.reduced_strides);
      for (int64_t t = 0; t < reduce.terms; t++, inner.Next()) {
        for (int k = 0; k < arrays; k++) {
          const char* from = frame.data[step.inputs[k]];
          for (int64_t i = 0; i < n; i++)
            std::memcpy(term[k] + i * element[k],
                        from + (offsets[i] + inner.offset[0]) * element[k], element[k]);
          slots[k] = running[k];
          slots[arrays + k] = term[k];
          slots[code.inputs + code.registers + k] = fresh[k];
        }
        code.Run(slots.data(), n);
        running.swap(fresh);
      }
      for (int k = 0; k < arrays; k++)
        std::memcpy(frame.data[step.outputs[k]] + begin * element[k], running[k],
                    n * element[k]);
    }
  });
}

void RunReduce(const Step& step, Frame& frame) {
  const Reduce& reduce = *static_cast<const Reduce*>(step.prepared.get());
  if (step.outputs.size() == 1) {
    const int type = frame.value(step.outputs[0]).type;
    if (SimpleFunction simple = FindSimple(reduce.op, type)) {
      simple(reduce, frame.data[step.inputs[0]], frame.data[step.inputs[1]],
             frame.data[step.outputs[0]]);
      return;
    }
  }
  General(reduce, step, frame);
}

std::shared_ptr<void> PrepareReduce(const Step& step, const Program&) {
  return std::make_shared<Reduce>(Numbers(step.ints));
}

const Registration reduce_step("reduce", RunReduce, PrepareReduce);

}  // namespace
}  // namespace ascend
