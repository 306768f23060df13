// Operators of the stand-in that compute element by element, reduce, copy and choose. Arguments stand
// in the order of CANN's public headers; numbers are computed in 64 bits and rounded once.
#include <algorithm>
#include <limits>

#include "standin.h"

namespace standin {
namespace {

template <typename F>
int32_t Unary(const char* name, const std::set<int>& types, int to, T x, T out,
              uint64_t* workspace, void** executor, F f) {
  const bool fits = x->dims == out->dims && out->type == (to < 0 ? x->type : to);
  Checked checked{{x}, {out}, types};
  if (to >= 0) checked.types.insert(to);
  return First(name, checked, fits, [x, out, f] {
    for (int64_t i = 0; i < out->Count(); i++) out->Put(i, f(x->At(i)));
  }, workspace, executor);
}

template <typename F>
int32_t Binary(const char* name, const std::set<int>& types, int to, T x, T y, T out,
               uint64_t* workspace, void** executor, F f) {
  const bool fits = Repeats(*x, out->dims) && Repeats(*y, out->dims) && x->type == y->type &&
                    out->type == (to < 0 ? x->type : to);
  Checked checked{{x, y}, {out}, types};
  if (to >= 0) checked.types.insert(to);
  return First(name, checked, fits, [x, y, out, f] {
    for (int64_t i = 0; i < out->Count(); i++)
      out->Put(i, f(x->Get(x->Repeated(i, out->dims)), y->Get(y->Repeated(i, out->dims))));
  }, workspace, executor);
}

double Greatest(double x, double y) { return x != x ? x : y != y ? y : std::max(x, y); }
double Least(double x, double y) { return x != x ? x : y != y ? y : std::min(x, y); }
double Sign(double x) { return x != x ? x : (x > 0) - (x < 0); }

}  // namespace
}  // namespace standin

using namespace standin;

#define UNARY(name, types, to, expression)                                                    \
  ENTRY int32_t name##GetWorkspaceSize(T self, T out, uint64_t* bytes, void** made) {         \
    return Unary(#name, types, to, self, out, bytes, made, [](double x) { return expression; }); \
  }                                                                                           \
  SECOND(name)
#define BINARY(name, types, to, expression)                                                   \
  ENTRY int32_t name##GetWorkspaceSize(T self, T other, T out, uint64_t* bytes, void** made) { \
    return Binary(#name, types, to, self, other, out, bytes, made,                            \
                  [](double x, double y) { return expression; });                             \
  }                                                                                           \
  SECOND(name)
#define SCALED(name, operation)                                                               \
  ENTRY int32_t name##GetWorkspaceSize(T self, T other, const Scalar* alpha, T out,           \
                                       uint64_t* bytes, void** made) {                        \
    const double scale = alpha->value;                                                        \
    return Binary(#name, kNumbers, -1, self, other, out, bytes, made,                         \
                  [scale](double x, double y) { return x operation scale * y; });             \
  }                                                                                           \
  SECOND(name)

SCALED(aclnnAdd, +)
SCALED(aclnnSub, -)
BINARY(aclnnMul, kNumbers, -1, x* y)
BINARY(aclnnDiv, kFloats, -1, x / y)
BINARY(aclnnMaximum, kNumbers, -1, Greatest(x, y))
BINARY(aclnnMinimum, kNumbers, -1, Least(x, y))
BINARY(aclnnPowTensorTensor, kFloats, -1, std::pow(x, y))
BINARY(aclnnFmodTensor, kFloats, -1, std::fmod(x, y))
BINARY(aclnnAtan2, kFloats, -1, std::atan2(x, y))
UNARY(aclnnExp, kFloats, -1, std::exp(x))
UNARY(aclnnExpm1, kFloats, -1, std::expm1(x))
UNARY(aclnnLog, kFloats, -1, std::log(x))
UNARY(aclnnLog1p, kFloats, -1, std::log1p(x))
UNARY(aclnnNeg, kNumbers, -1, -x)
UNARY(aclnnSign, kFloats, -1, Sign(x))
UNARY(aclnnTanh, kFloats, -1, std::tanh(x))
UNARY(aclnnTan, kFloats, -1, std::tan(x))
UNARY(aclnnSin, kFloats, -1, std::sin(x))
UNARY(aclnnCos, kFloats, -1, std::cos(x))
UNARY(aclnnFloor, kFloats, -1, std::floor(x))
UNARY(aclnnCeil, kFloats, -1, std::ceil(x))
UNARY(aclnnRound, kFloats, -1, std::nearbyint(x))
UNARY(aclnnSqrt, kFloats, -1, std::sqrt(x))
UNARY(aclnnRsqrt, kFloats, -1, 1 / std::sqrt(x))
UNARY(aclnnAbs, kNumbers, -1, std::fabs(x))
UNARY(aclnnIsFinite, kFloats, kBool, std::isfinite(x))
BINARY(aclnnEqTensor, kNumbers, kBool, x == y)
BINARY(aclnnNeTensor, kAll, kBool, x != y)
BINARY(aclnnGeTensor, kNumbers, kBool, x >= y)
BINARY(aclnnGtTensor, kNumbers, kBool, x > y)
BINARY(aclnnLeTensor, kNumbers, kBool, x <= y)
BINARY(aclnnLtTensor, kNumbers, kBool, x < y)
BINARY(aclnnLogicalAnd, kAll, kBool, x && y)
BINARY(aclnnLogicalOr, kAll, kBool, x || y)
UNARY(aclnnLogicalNot, kAll, kBool, !x)

ENTRY int32_t aclnnSWhereGetWorkspaceSize(T condition, T self, T other, T out, uint64_t* bytes,
                                          void** made) {
  const bool fits = condition->type == kBool && self->type == out->type &&
                    other->type == out->type && Repeats(*condition, out->dims) &&
                    Repeats(*self, out->dims) && Repeats(*other, out->dims);
  return First("aclnnSWhere", {{condition, self, other}, {out}, {}}, fits, [=] {
    for (int64_t i = 0; i < out->Count(); i++) {
      T from = condition->Get(condition->Repeated(i, out->dims)) ? self : other;
      out->Put(i, from->Get(from->Repeated(i, out->dims)));
    }
  }, bytes, made);
}
SECOND(aclnnSWhere)

ENTRY int32_t aclnnCastGetWorkspaceSize(T self, int type, T out, uint64_t* bytes, void** made) {
  const bool fits = type == out->type && self->dims == out->dims;
  return First("aclnnCast", {{self}, {out}, {}}, fits, [=] {
    for (int64_t i = 0; i < out->Count(); i++) out->Put(i, self->At(i));
  }, bytes, made);
}
SECOND(aclnnCast)

ENTRY int32_t aclnnInplaceCopyGetWorkspaceSize(T self, T source, uint64_t* bytes, void** made) {
  return First("aclnnInplaceCopy", {{source}, {self}, {}}, Repeats(*source, self->dims), [=] {
    for (int64_t i = 0; i < self->Count(); i++)
      self->Put(i, source->Get(source->Repeated(i, self->dims)));
  }, bytes, made);
}
SECOND(aclnnInplaceCopy)

ENTRY int32_t aclnnArangeGetWorkspaceSize(const Scalar* start, const Scalar* end,
                                          const Scalar* step, T out, uint64_t* bytes,
                                          void** made) {
  const double first = start->value, by = step->value;
  const bool fits = std::ceil((end->value - first) / by) == out->Count();
  return First("aclnnArange", {{}, {out}, {}}, fits, [=] {
    for (int64_t i = 0; i < out->Count(); i++) out->Put(i, first + by * i);
  }, bytes, made);
}
SECOND(aclnnArange)

ENTRY int32_t aclnnIndexSelectGetWorkspaceSize(T self, int64_t axis, T index, T out,
                                               uint64_t* bytes, void** made) {
  std::vector<int64_t> wanted = self->dims;
  wanted[axis] = index->Count();
  const bool fits = index->dims.size() == 1 && wanted == out->dims && self->type == out->type &&
                    (index->type == kInt32 || index->type == kInt64);
  return First("aclnnIndexSelect", {{self, index}, {out}, {}}, fits, [=] {
    int64_t inner = 1;
    for (size_t i = axis + 1; i < self->dims.size(); i++) inner *= self->dims[i];
    const int64_t rows = self->dims[axis], count = out->dims[axis];
    for (int64_t i = 0; i < out->Count(); i++) {
      const int64_t row = static_cast<int64_t>(index->At(i / inner % count));
      if (row < 0 || row >= rows) {
        Blame("aclnnIndexSelect of a row that is not there");
        continue;
      }
      out->Put(i, self->At((i / inner / count * rows + row) * inner + i % inner));
    }
  }, bytes, made);
}
SECOND(aclnnIndexSelect)

namespace {

// Reduces the axes that `axes` names, which the result has not.
template <typename F>
int32_t Reduce(const char* name, const std::set<int>& types, T self, const Ints* axes, bool keep,
               T out, uint64_t* bytes, void** made, double start, F f) {
  std::set<int64_t> gone;
  for (int64_t a : axes->values) gone.insert(a < 0 ? a + int64_t(self->dims.size()) : a);
  std::vector<int64_t> kept;
  for (size_t i = 0; i < self->dims.size(); i++)
    if (!gone.count(i)) kept.push_back(self->dims[i]);
  return First(name, {{self}, {out}, types}, !keep && kept == out->dims, [=] {
    std::vector<double> sums(out->Count(), start);
    for (int64_t i = 0; i < self->Count(); i++) {
      int64_t rest = i, to = 0, by = 1;
      for (size_t a = self->dims.size(); a-- > 0;) {
        const int64_t at = rest % self->dims[a];
        rest /= self->dims[a];
        if (gone.count(a)) continue;
        to += at * by;
        by *= self->dims[a];
      }
      sums[to] = f(sums[to], self->At(i));
    }
    for (int64_t i = 0; i < out->Count(); i++) out->Put(i, sums[i]);
  }, bytes, made);
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

ENTRY int32_t aclnnReduceSumGetWorkspaceSize(T self, const Ints* axes, bool keep, int type, T out,
                                             uint64_t* bytes, void** made) {
  if (type != out->type) type = -1;
  return Reduce("aclnnReduceSum", kNumbers, self, axes, keep || type < 0, out, bytes, made, 0,
                [](double s, double x) { return s + x; });
}
SECOND(aclnnReduceSum)
#define REDUCE(name, types, start, expression)                                                 \
  ENTRY int32_t name##GetWorkspaceSize(T self, const Ints* axes, bool keep, T out,             \
                                       uint64_t* bytes, void** made) {                         \
    return Reduce(#name, types, self, axes, keep, out, bytes, made, start,                     \
                  [](double s, double x) -> double { return expression; });                    \
  }                                                                                            \
  SECOND(name)
REDUCE(aclnnAmax, kNumbers, -kInfinity, Greatest(s, x))
REDUCE(aclnnAmin, kNumbers, kInfinity, Least(s, x))
REDUCE(aclnnAny, std::set<int>{kBool}, 0, s || x)
REDUCE(aclnnAll, std::set<int>{kBool}, 1, s && x)

ENTRY int32_t aclnnVarGetWorkspaceSize(T self, const Ints* axes, bool unbiased, bool keep, T out,
                                       uint64_t* bytes, void** made) {
  const int64_t rows = self->dims[0], width = self->dims[1];
  const bool fits = self->dims.size() == 2 && axes->values == std::vector<int64_t>{1} && !keep &&
                    !unbiased && out->dims == std::vector<int64_t>{rows};
  return First("aclnnVar", {{self}, {out}, kFloats}, fits, [=] {
    for (int64_t r = 0; r < rows; r++) {
      double mean = 0, square = 0;
      for (int64_t i = 0; i < width; i++) mean += self->At(r * width + i) / width;
      for (int64_t i = 0; i < width; i++)
        square += std::pow(self->At(r * width + i) - mean, 2) / width;
      out->Put(r, square);
    }
  }, bytes, made);
}
SECOND(aclnnVar)
