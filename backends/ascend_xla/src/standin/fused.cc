// Operators of the stand-in that multiply matrices, convolve, normalize, attend and route, by the
// formulas of CANN's public documentation.
#include <algorithm>
#include <numeric>

#include "standin.h"

namespace standin {
namespace {

// Matrices, or as many of them as the first dimension says.
int32_t Multiply(const char* name, size_t rank, T a, T b, T c, int64_t precision, uint64_t* bytes,
                 void** made) {
  const auto &p = a->dims, &q = b->dims, &r = c->dims;
  const bool ranks = p.size() == rank && q.size() == rank && r.size() == rank && precision == 0;
  const bool fits = ranks && p[rank - 1] == q[rank - 2] && r[rank - 2] == p[rank - 2] &&
                    r[rank - 1] == q[rank - 1] && (rank == 2 || (p[0] == q[0] && p[0] == r[0])) &&
                    a->type == b->type && a->type == c->type;
  return First(name, {{a, b}, {c}, kFloats}, fits, [=] {
    const int64_t m = a->dims[rank - 2], k = a->dims[rank - 1], n = b->dims[rank - 1];
    for (int64_t i = 0; i < c->Count(); i++) {
      const int64_t row = i / n, batch = row / m;
      double sum = 0;
      for (int64_t l = 0; l < k; l++)
        sum += a->At(row * k + l) * b->At((batch * k + l) * n + i % n);
      c->Put(i, sum);
    }
  }, bytes, made);
}

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

std::vector<double> Read(T tensor) {
  std::vector<double> values(tensor->Count());
  for (size_t i = 0; i < values.size(); i++) values[i] = tensor->At(i);
  return values;
}
void Write(T tensor, const std::vector<double>& values) {
  for (size_t i = 0; i < values.size(); i++) tensor->Put(i, values[i]);
}

}  // namespace
}  // namespace standin

using namespace standin;

ENTRY int32_t aclnnMatmulGetWorkspaceSize(T self, T other, T out, int8_t precision,
                                          uint64_t* bytes, void** made) {
  return Multiply("aclnnMatmul", 2, self, other, out, precision, bytes, made);
}
SECOND(aclnnMatmul)
ENTRY int32_t aclnnBatchMatMulGetWorkspaceSize(T self, T other, T out, int8_t precision,
                                               uint64_t* bytes, void** made) {
  return Multiply("aclnnBatchMatMul", 3, self, other, out, precision, bytes, made);
}
SECOND(aclnnBatchMatMul)

ENTRY int32_t aclnnConvolutionGetWorkspaceSize(T image, T weight, T bias, const Ints* stride,
                                               const Ints* padding, const Ints* dilation,
                                               bool transposed, const Ints* more, int64_t groups,
                                               T out, int8_t precision, uint64_t* bytes,
                                               void** made) {
  const size_t rank = stride->values.size();
  const int form = rank == 1 ? 47 : rank == 2 ? 0 : 30;
  bool fits = image->dims.size() == rank + 2 && weight->dims.size() == rank + 2 &&
              out->dims.size() == rank + 2 && !bias && !transposed && precision == 0 &&
              more->values.size() == rank && image->format == form && weight->format == form &&
              out->format == form && image->dims[1] == weight->dims[1] * groups &&
              out->dims[0] == image->dims[0] && out->dims[1] == weight->dims[0];
  for (size_t i = 0; fits && i < rank; i++)
    fits = (image->dims[i + 2] + 2 * padding->values[i] -
            dilation->values[i] * (weight->dims[i + 2] - 1) - 1) /
                   stride->values[i] + 1 == out->dims[i + 2];
  const auto step = stride->values, low = padding->values, spread = dilation->values;
  return First("aclnnConvolution", {{image, weight}, {out}, kFloats}, fits, [=] {
    const int64_t inner = weight->dims[1], outer = out->dims[1] / groups;
    int64_t places = 1, taps = 1, space = 1;
    for (size_t a = 0; a < rank; a++) {
      places *= out->dims[a + 2];
      taps *= weight->dims[a + 2];
      space *= image->dims[a + 2];
    }
    for (int64_t i = 0; i < out->Count(); i++) {
      const int64_t channel = i / places % out->dims[1], n = i / places / out->dims[1];
      double sum = 0;
      for (int64_t t = 0; t < taps; t++) {
        int64_t place = i % places, tap = t, from = 0, by = 1;
        bool inside = true;
        for (size_t a = rank; a-- > 0;) {
          const int64_t at = place % out->dims[a + 2] * step[a] - low[a] +
                             tap % weight->dims[a + 2] * spread[a];
          place /= out->dims[a + 2];
          tap /= weight->dims[a + 2];
          inside = inside && at >= 0 && at < image->dims[a + 2];
          from += at * by;
          by *= image->dims[a + 2];
        }
        for (int64_t c = 0; inside && c < inner; c++)
          sum += image->At((n * image->dims[1] + channel / outer * inner + c) * space + from) *
                 weight->At((channel * inner + c) * taps + t);
      }
      out->Put(i, sum);
    }
  }, bytes, made);
}
SECOND(aclnnConvolution)

ENTRY int32_t aclnnSoftmaxGetWorkspaceSize(T self, int64_t axis, T out, uint64_t* bytes,
                                           void** made) {
  const bool fits = (axis == -1 || axis == int64_t(self->dims.size()) - 1) &&
                    self->dims == out->dims;
  return First("aclnnSoftmax", {{self}, {out}, kFloats}, fits, [=] {
    const int64_t width = self->dims.back();
    for (int64_t r = 0; r < self->Count(); r += width) {
      double peak = -INFINITY, sum = 0;
      for (int64_t i = 0; i < width; i++) peak = std::max(peak, self->At(r + i));
      for (int64_t i = 0; i < width; i++) sum += std::exp(self->At(r + i) - peak);
      for (int64_t i = 0; i < width; i++)
        out->Put(r + i, std::exp(self->At(r + i) - peak) / sum);
    }
  }, bytes, made);
}
SECOND(aclnnSoftmax)
ENTRY int32_t aclnnSoftmaxBackwardGetWorkspaceSize(T dout, T output, int64_t axis, T dx,
                                                   uint64_t* bytes, void** made) {
  const bool fits = (axis == -1 || axis == int64_t(output->dims.size()) - 1) &&
                    dout->dims == output->dims && dx->dims == output->dims;
  return First("aclnnSoftmaxBackward", {{dout, output}, {dx}, kFloats}, fits, [=] {
    const int64_t width = output->dims.back();
    for (int64_t r = 0; r < output->Count(); r += width) {
      double sum = 0;
      for (int64_t i = 0; i < width; i++) sum += dout->At(r + i) * output->At(r + i);
      for (int64_t i = 0; i < width; i++)
        dx->Put(r + i, output->At(r + i) * (dout->At(r + i) - sum));
    }
  }, bytes, made);
}
SECOND(aclnnSoftmaxBackward)

namespace {

int32_t Norm(const char* name, T x1, T x2, T gamma, double epsilon, T y, T rstd, T sum,
             uint64_t* bytes, void** made) {
  const int64_t width = gamma->Count(), rows = width ? x1->Count() / width : 0;
  const bool fits = y->dims == x1->dims && rstd->Count() == rows &&
                    rstd->dims.size() == x1->dims.size() && rstd->dims.back() == 1;
  Checked checked{{x1, gamma}, {y, rstd}, kFloats};
  if (x2) {
    checked.read.push_back(x2);
    checked.written.push_back(sum);
  }
  return First(name, checked, fits, [=] {
    for (int64_t r = 0; r < rows; r++) {
      double square = 0;
      std::vector<double> row(width);
      for (int64_t i = 0; i < width; i++) {
        row[i] = x1->At(r * width + i) + (x2 ? x2->At(r * width + i) : 0);
        if (sum) sum->Put(r * width + i, row[i]);
        square += row[i] * row[i] / width;
      }
      const double inverse = 1 / std::sqrt(square + epsilon);
      rstd->Put(r, inverse);
      for (int64_t i = 0; i < width; i++) y->Put(r * width + i, row[i] * inverse * gamma->At(i));
    }
  }, bytes, made);
}

}  // namespace

ENTRY int32_t aclnnRmsNormGetWorkspaceSize(T x, T gamma, double epsilon, T y, T rstd,
                                           uint64_t* bytes, void** made) {
  return Norm("aclnnRmsNorm", x, nullptr, gamma, epsilon, y, rstd, nullptr, bytes, made);
}
SECOND(aclnnRmsNorm)
ENTRY int32_t aclnnAddRmsNormGetWorkspaceSize(T x1, T x2, T gamma, double epsilon, T y, T rstd,
                                              T x, uint64_t* bytes, void** made) {
  return Norm("aclnnAddRmsNorm", x1, x2, gamma, epsilon, y, rstd, x, bytes, made);
}
SECOND(aclnnAddRmsNorm)
ENTRY int32_t aclnnRmsNormGradGetWorkspaceSize(T dy, T x, T rstd, T gamma, T dx, T dgamma,
                                               uint64_t* bytes, void** made) {
  const int64_t width = gamma->Count(), rows = width ? x->Count() / width : 0;
  const bool fits = rstd->Count() == rows && dgamma->Count() == width && dx->dims == x->dims;
  return First("aclnnRmsNormGrad", {{dy, x, rstd, gamma}, {dx, dgamma}, kFloats}, fits, [=] {
    std::vector<double> of_gamma(width, 0);
    for (int64_t r = 0; r < rows; r++) {
      const double inverse = rstd->At(r);
      double mean = 0;
      for (int64_t i = 0; i < width; i++) {
        const double normal = x->At(r * width + i) * inverse, d = dy->At(r * width + i);
        of_gamma[i] += d * normal;
        mean += d * gamma->At(i) * normal / width;
      }
      for (int64_t i = 0; i < width; i++)
        dx->Put(r * width + i, inverse * (dy->At(r * width + i) * gamma->At(i) -
                                          x->At(r * width + i) * inverse * mean));
    }
    Write(dgamma, of_gamma);
  }, bytes, made);
}
SECOND(aclnnRmsNormGrad)

ENTRY int32_t aclnnLayerNormGetWorkspaceSize(T x, const Ints* shape, T weight, T bias,
                                             double epsilon, T out, T mean, T rstd,
                                             uint64_t* bytes, void** made) {
  const int64_t width = shape->values.at(0), rows = x->Count() / width;
  const bool fits = shape->values.size() == 1 && x->dims.back() == width &&
                    weight->Count() == width && bias->Count() == width && mean->Count() == rows &&
                    rstd->Count() == rows && mean->dims.size() == x->dims.size();
  return First("aclnnLayerNorm", {{x, weight, bias}, {out, mean, rstd}, kFloats}, fits, [=] {
    for (int64_t r = 0; r < rows; r++) {
      double middle = 0, square = 0;
      for (int64_t i = 0; i < width; i++) middle += x->At(r * width + i) / width;
      for (int64_t i = 0; i < width; i++)
        square += std::pow(x->At(r * width + i) - middle, 2) / width;
      const double inverse = 1 / std::sqrt(square + epsilon);
      mean->Put(r, middle);
      rstd->Put(r, inverse);
      for (int64_t i = 0; i < width; i++)
        out->Put(r * width + i,
                 (x->At(r * width + i) - middle) * inverse * weight->At(i) + bias->At(i));
    }
  }, bytes, made);
}
SECOND(aclnnLayerNorm)
ENTRY int32_t aclnnLayerNormBackwardGetWorkspaceSize(T dout, T x, const Ints* shape, T mean,
                                                     T rstd, T weight, T bias, const Ints* mask,
                                                     T dx, T dweight, T dbias, uint64_t* bytes,
                                                     void** made) {
  const int64_t width = shape->values.at(0), rows = x->Count() / width;
  const bool fits = !bias && mask->values == std::vector<int64_t>{1, 1, 1} &&
                    dx->dims == x->dims && dweight->Count() == width && dbias->Count() == width;
  const Checked checked{{dout, x, mean, rstd, weight}, {dx, dweight, dbias}, kFloats};
  return First("aclnnLayerNormBackward", checked, fits, [=] {
    std::vector<double> of_weight(width, 0), of_bias(width, 0);
    for (int64_t r = 0; r < rows; r++) {
      const double middle = mean->At(r), inverse = rstd->At(r);
      double sum = 0, along = 0;
      for (int64_t i = 0; i < width; i++) {
        const double d = dout->At(r * width + i), g = d * weight->At(i);
        const double normal = (x->At(r * width + i) - middle) * inverse;
        of_weight[i] += d * normal;
        of_bias[i] += d;
        sum += g / width;
        along += g * normal / width;
      }
      for (int64_t i = 0; i < width; i++) {
        const double normal = (x->At(r * width + i) - middle) * inverse;
        dx->Put(r * width + i,
                inverse * (dout->At(r * width + i) * weight->At(i) - sum - normal * along));
      }
    }
    Write(dweight, of_weight);
    Write(dbias, of_bias);
  }, bytes, made);
}
SECOND(aclnnLayerNormBackward)

ENTRY int32_t aclnnSwiGluGetWorkspaceSize(T x, int64_t axis, T out, uint64_t* bytes, void** made) {
  const int64_t width = out->dims.back();
  return First("aclnnSwiGlu", {{x}, {out}, kFloats}, axis == -1 && x->dims.back() == 2 * width,
               [=] {
    for (int64_t i = 0; i < out->Count(); i++) {
      const int64_t at = i / width * 2 * width + i % width;
      out->Put(i, x->At(at) * Sigmoid(x->At(at)) * x->At(at + width));
    }
  }, bytes, made);
}
SECOND(aclnnSwiGlu)
ENTRY int32_t aclnnSwiGluGradGetWorkspaceSize(T dy, T x, int64_t axis, T out, uint64_t* bytes,
                                              void** made) {
  const int64_t width = dy->dims.back();
  const bool fits = axis == -1 && x->dims.back() == 2 * width && out->dims == x->dims;
  return First("aclnnSwiGluGrad", {{dy, x}, {out}, kFloats}, fits, [=] {
    for (int64_t i = 0; i < dy->Count(); i++) {
      const int64_t at = i / width * 2 * width + i % width;
      const double a = x->At(at), b = x->At(at + width), s = Sigmoid(a), d = dy->At(i);
      out->Put(at, d * b * s * (1 + a * (1 - s)));
      out->Put(at + width, d * a * s);
    }
  }, bytes, made);
}
SECOND(aclnnSwiGluGrad)

ENTRY int32_t aclnnRotaryPositionEmbeddingGetWorkspaceSize(T x, T cos, T sin, int64_t mode, T out,
                                                           uint64_t* bytes, void** made) {
  const bool fits = x->dims.size() == 4 && Repeats(*cos, x->dims) && cos->dims == sin->dims &&
                    out->dims == x->dims && (mode == 0 || mode == 1);
  return First("aclnnRotaryPositionEmbedding", {{x, cos, sin}, {out}, kFloats}, fits, [=] {
    const int64_t width = x->dims.back(), half = width / 2;
    for (int64_t i = 0; i < x->Count(); i++) {
      const int64_t d = i % width, start = i - d;
      const int64_t partner = mode ? (d % 2 ? d - 1 : d + 1) : (d < half ? d + half : d - half);
      const double turned = (mode ? d % 2 == 0 : d < half) ? -x->At(start + partner)
                                                           : x->At(start + partner);
      out->Put(i, x->At(i) * cos->Get(cos->Repeated(i, x->dims)) +
                      turned * sin->Get(sin->Repeated(i, x->dims)));
    }
  }, bytes, made);
}
SECOND(aclnnRotaryPositionEmbedding)

ENTRY int32_t aclnnMoeGatingTopKSoftmaxGetWorkspaceSize(T x, T finished, int64_t k, T y, T experts,
                                                        T rows, uint64_t* bytes, void** made) {
  const bool fits = !finished && k > 0 && k <= x->dims.back() && y->dims == experts->dims &&
                    rows->dims == y->dims && y->dims.back() == k && experts->type == kInt32 &&
                    rows->type == kInt32;
  return First("aclnnMoeGatingTopKSoftmax", {{x}, {y, experts, rows}, {}}, fits, [=] {
    const int64_t width = x->dims.back(), count = x->Count() / width;
    for (int64_t r = 0; r < count; r++) {
      std::vector<int64_t> order(width);
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return x->At(r * width + a) > x->At(r * width + b);
      });
      double sum = 0;
      for (int64_t i = 0; i < width; i++)
        sum += std::exp(x->At(r * width + i) - x->At(r * width + order[0]));
      for (int64_t i = 0; i < k; i++) {
        y->Put(r * k + i, std::exp(x->At(r * width + order[i]) - x->At(r * width + order[0])) / sum);
        experts->Put(r * k + i, order[i]);
        rows->Put(r * k + i, i * count + r);
      }
    }
  }, bytes, made);
}
SECOND(aclnnMoeGatingTopKSoftmax)

ENTRY int32_t aclnnMoeTokenPermuteGetWorkspaceSize(T tokens, T indices, int64_t kept, bool padded,
                                                   T rows, T places, uint64_t* bytes,
                                                   void** made) {
  const bool fits = !padded && rows->dims[0] == kept && places->Count() == indices->Count() &&
                    places->type == kInt32;
  return First("aclnnMoeTokenPermute", {{tokens, indices}, {rows, places}, {}}, fits, [=] {
    const int64_t count = indices->Count(), width = tokens->dims[1];
    const int64_t each = count / tokens->dims[0];
    std::vector<int64_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return indices->At(a) < indices->At(b);
    });
    for (int64_t i = 0; i < count; i++) {
      places->Put(order[i], i);
      for (int64_t j = 0; i < kept && j < width; j++)
        rows->Put(i * width + j, tokens->At(order[i] / each * width + j));
    }
  }, bytes, made);
}
SECOND(aclnnMoeTokenPermute)
ENTRY int32_t aclnnMoeTokenUnpermuteGetWorkspaceSize(T rows, T places, T shares, bool padded,
                                                     const Ints* shape, T out, uint64_t* bytes,
                                                     void** made) {
  const bool fits = !padded && !shape && shares->Count() == places->Count() &&
                    shares->dims[0] == out->dims[0];
  return First("aclnnMoeTokenUnpermute", {{rows, places, shares}, {out}, {}}, fits, [=] {
    const int64_t width = out->dims[1], each = shares->dims[1];
    for (int64_t i = 0; i < out->Count(); i++) {
      double sum = 0;
      for (int64_t e = 0; e < each; e++) {
        const int64_t at = i / width * each + e, row = static_cast<int64_t>(places->At(at));
        if (row < rows->dims[0]) sum += rows->At(row * width + i % width) * shares->At(at);
      }
      out->Put(i, sum);
    }
  }, bytes, made);
}
SECOND(aclnnMoeTokenUnpermute)
ENTRY int32_t aclnnMoeTokenUnpermuteGradGetWorkspaceSize(T rows, T dout, T places, T shares,
                                                         bool padded, const Ints* shape, T drows,
                                                         T dshares, uint64_t* bytes,
                                                         void** made) {
  const Checked checked{{rows, dout, places, shares}, {drows, dshares}, {}};
  const bool fits = !padded && !shape && drows->dims == rows->dims && dshares->dims == shares->dims;
  return First("aclnnMoeTokenUnpermuteGrad", checked, fits, [=] {
    const int64_t width = dout->dims[1], each = shares->dims[1];
    std::vector<double> of_rows(drows->Count(), 0), of_shares(shares->Count(), 0);
    for (int64_t at = 0; at < shares->Count(); at++) {
      const int64_t row = static_cast<int64_t>(places->At(at));
      for (int64_t j = 0; row < rows->dims[0] && j < width; j++) {
        const double d = dout->At(at / each * width + j);
        of_rows[row * width + j] += d * shares->At(at);
        of_shares[at] += d * rows->At(row * width + j);
      }
    }
    Write(drows, of_rows);
    Write(dshares, of_shares);
  }, bytes, made);
}
SECOND(aclnnMoeTokenUnpermuteGrad)

ENTRY int32_t aclnnGroupedMatmulV4GetWorkspaceSize(
    const List* x, const List* weight, const List* bias, const List* scale, const List* offset,
    const List* antiquant_scale, const List* antiquant_offset, const List* per_token, T groups,
    const List* activation, const List* activation_scale, const List* activation_offset,
    int64_t split, int64_t type, int64_t list_type, int64_t act, const List* out,
    const List* feature, const List* dynamic, uint64_t* bytes, void** made) {
  const bool none = !bias && !scale && !offset && !antiquant_scale && !antiquant_offset &&
                    !per_token && !activation && !activation_scale && !activation_offset &&
                    !feature && !dynamic;
  T a = x->tensors.at(0), b = weight->tensors.at(0), c = out->tensors.at(0);
  const bool fits = none && split == 3 && type == 0 && list_type == 0 && act == 0 &&
                    groups->type == kInt64 && groups->Count() == b->dims[0] &&
                    a->dims[1] == b->dims[1] && c->dims[1] == b->dims[2];
  return First("aclnnGroupedMatmulV4", {{a, b, groups}, {c}, {}}, fits, [=] {
    const int64_t k = a->dims[1], n = b->dims[2];
    for (int64_t i = 0; i < c->Count(); i++) {
      int64_t group = 0;
      while (group < groups->Count() && groups->At(group) <= i / n) group++;
      double sum = 0;
      for (int64_t l = 0; group < groups->Count() && l < k; l++)
        sum += a->At(i / n * k + l) * b->At((group * k + l) * n + i % n);
      c->Put(i, sum);
    }
  }, bytes, made);
}
SECOND(aclnnGroupedMatmulV4)
