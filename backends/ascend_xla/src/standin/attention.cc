// Attention of the stand-in, forward and backward, for the layout BSND.
#include <algorithm>

#include "standin.h"

using namespace standin;

namespace {

// Addresses of elements (batch, place, head, number) and of statistics (batch, head, place, copy).
struct Shape {
  int64_t batch, queries, heads, size, keys, key_heads, value_size;
  int64_t Query(int64_t b, int64_t i, int64_t h, int64_t d) const {
    return ((b * queries + i) * heads + h) * size + d;
  }
  int64_t Key(int64_t b, int64_t j, int64_t h, int64_t d) const {
    return ((b * keys + j) * key_heads + h * key_heads / heads) * size + d;
  }
  int64_t Value(int64_t b, int64_t j, int64_t h, int64_t d) const {
    return ((b * keys + j) * key_heads + h * key_heads / heads) * value_size + d;
  }
  int64_t Out(int64_t b, int64_t i, int64_t h, int64_t d) const {
    return ((b * queries + i) * heads + h) * value_size + d;
  }
  int64_t Row(int64_t b, int64_t h, int64_t i) const { return ((b * heads + h) * queries + i) * 8; }
};

Shape ShapeOf(T q, T k, T v) {
  return {q->dims[0], q->dims[1], q->dims[2], q->dims[3], k->dims[1], k->dims[2], v->dims[3]};
}

bool Hidden(T mask, const Shape& s, int64_t b, int64_t h, int64_t i, int64_t j) {
  if (!mask) return false;
  const int64_t at = ((b * s.heads + h) * s.queries + i) * s.keys + j;
  return mask->Get(mask->Repeated(at, {s.batch, s.heads, s.queries, s.keys})) != 0;
}

double Score(T q, T k, const Shape& s, double scale, int64_t b, int64_t h, int64_t i, int64_t j) {
  double sum = 0;
  for (int64_t d = 0; d < s.size; d++) sum += q->At(s.Query(b, i, h, d)) * k->At(s.Key(b, j, h, d));
  return scale * sum;
}

// What both want alike: four axes, no extras, everything seen but what the mask hides.
bool Plain(T q, T k, T v, T shift, T drop, T padding, T mask, const Ints* prefix, double keep,
           int64_t before, int64_t after, int64_t heads, const char* layout, int64_t inner,
           int64_t mode) {
  return q->dims.size() == 4 && k->dims.size() == 4 && v->dims.size() == 4 && !shift && !drop &&
         !padding && !prefix && keep == 1 && before == 2147483647 && after == 2147483647 &&
         heads == q->dims[2] && !std::strcmp(layout, "BSND") && inner == 0 &&
         mode == (mask ? 1 : 0);
}

}  // namespace

ENTRY int32_t aclnnFlashAttentionScoreGetWorkspaceSize(
    T q, T k, T v, T shift, T drop, T padding, T mask, const Ints* prefix, double scale,
    double keep, int64_t before, int64_t after, int64_t heads, char* layout, int64_t inner,
    int64_t mode, T peak, T total, T unused, T out, uint64_t* bytes, void** made) {
  const Shape s = ShapeOf(q, k, v);
  const std::vector<int64_t> rows = {s.batch, s.heads, s.queries, 8};
  const bool fits = Plain(q, k, v, shift, drop, padding, mask, prefix, keep, before, after, heads,
                          layout, inner, mode) &&
                    peak->dims == rows && total->dims == rows && !unused->Count();
  Checked checked{{q, k, v}, {peak, total, unused, out}, {}};
  if (mask) checked.read.push_back(mask);
  return First("aclnnFlashAttentionScore", checked, fits, [=] {
    for (int64_t b = 0; b < s.batch; b++)
      for (int64_t h = 0; h < s.heads; h++)
        for (int64_t i = 0; i < s.queries; i++) {
          std::vector<double> weight(s.keys);
          double greatest = -INFINITY, sum = 0;
          for (int64_t j = 0; j < s.keys; j++) {
            weight[j] = Hidden(mask, s, b, h, i, j) ? -INFINITY : Score(q, k, s, scale, b, h, i, j);
            greatest = std::max(greatest, weight[j]);
          }
          for (double& w : weight) sum += w = std::isfinite(greatest) ? std::exp(w - greatest) : 0;
          for (int64_t copy = 0; copy < 8; copy++) {
            peak->Put(s.Row(b, h, i) + copy, greatest);
            total->Put(s.Row(b, h, i) + copy, sum);
          }
          for (int64_t d = 0; d < s.value_size; d++) {
            double value = 0;
            for (int64_t j = 0; sum && j < s.keys; j++)
              value += weight[j] / sum * v->At(s.Value(b, j, h, d));
            out->Put(s.Out(b, i, h, d), value);
          }
        }
  }, bytes, made);
}
SECOND(aclnnFlashAttentionScore)

ENTRY int32_t aclnnFlashAttentionScoreGradGetWorkspaceSize(
    T q, T k, T v, T dy, T shift, T drop, T padding, T mask, T peak, T total, T unused, T out,
    const Ints* prefix, double scale, double keep, int64_t before, int64_t after, int64_t heads,
    char* layout, int64_t inner, int64_t mode, T dq, T dk, T dv, T dshift, uint64_t* bytes,
    void** made) {
  const Shape s = ShapeOf(q, k, v);
  const std::vector<int64_t> rows = {s.batch, s.heads, s.queries, 8};
  const bool fits = Plain(q, k, v, shift, drop, padding, mask, prefix, keep, before, after, heads,
                          layout, inner, mode) &&
                    peak->dims == rows && total->dims == rows && !unused && !dshift->Count() &&
                    dq->dims == q->dims && dk->dims == k->dims && dv->dims == v->dims;
  Checked checked{{q, k, v, dy, peak, total, out}, {dq, dk, dv}, {}};
  if (mask) checked.read.push_back(mask);
  return First("aclnnFlashAttentionScoreGrad", checked, fits, [=] {
    std::vector<double> of_q(dq->Count(), 0), of_k(dk->Count(), 0), of_v(dv->Count(), 0);
    for (int64_t b = 0; b < s.batch; b++)
      for (int64_t h = 0; h < s.heads; h++)
        for (int64_t i = 0; i < s.queries; i++) {
          const double greatest = peak->At(s.Row(b, h, i)), sum = total->At(s.Row(b, h, i));
          double along = 0;
          for (int64_t d = 0; d < s.value_size; d++)
            along += dy->At(s.Out(b, i, h, d)) * out->At(s.Out(b, i, h, d));
          for (int64_t j = 0; sum && j < s.keys; j++) {
            if (Hidden(mask, s, b, h, i, j)) continue;
            const double weight = std::exp(Score(q, k, s, scale, b, h, i, j) - greatest) / sum;
            double of_weight = 0;
            for (int64_t d = 0; d < s.value_size; d++) {
              of_weight += dy->At(s.Out(b, i, h, d)) * v->At(s.Value(b, j, h, d));
              of_v[s.Value(b, j, h, d)] += weight * dy->At(s.Out(b, i, h, d));
            }
            const double of_score = weight * (of_weight - along) * scale;
            for (int64_t d = 0; d < s.size; d++) {
              of_q[s.Query(b, i, h, d)] += of_score * k->At(s.Key(b, j, h, d));
              of_k[s.Key(b, j, h, d)] += of_score * q->At(s.Query(b, i, h, d));
            }
          }
        }
    for (const auto& [tensor, values] : {std::pair{dq, &of_q}, {dk, &of_k}, {dv, &of_v}})
      for (size_t i = 0; i < values->size(); i++) tensor->Put(i, (*values)[i]);
  }, bytes, made);
}
SECOND(aclnnFlashAttentionScoreGrad)
