// RmsNorm and AddRmsNorm with their gradient, and LayerNorm with its: each row is read once
// while it is in the cache. Leading arrays of factors belong to equal parts of the rows.

#include "call.h"
#include "numeric.h"

namespace kernels {
namespace {

struct Rows {
  int64_t count, width, each;  // `each` rows have one set of factors
};

Rows RowsOf(const Array& x, const Array& factors) {
  Require(factors.rank() >= 1, "gamma must have an axis");
  const int64_t width = factors.dim(-1);
  if (width == 0 || x.size() == 0) return {0, 1, 1};
  const int64_t count = x.size() / width, sets = factors.size() / width;
  Require(x.size() % width == 0 && count % sets == 0, "gamma does not fit the rows of x");
  return {count, width, count / sets};
}

constexpr int64_t kSmallest = 1 << 16;  // elements worth a thread

// Divides a row by the root of its mean square.
void ScaleRow(const float* x, const float* gamma, float* y, float* inverse, int64_t width,
              float mean) {
  const float r = 1.0f / std::sqrt(mean);
  *inverse = r;
#pragma GCC ivdep
  for (int64_t j = 0; j < width; ++j) y[j] = x[j] * r * gamma[j];
}

void RmsRow(const float* x, const float* gamma, float* y, float* inverse, int64_t width,
            float epsilon) {
  float square = 0;
#pragma omp simd reduction(+ : square)
  for (int64_t j = 0; j < width; ++j) square += x[j] * x[j];
  ScaleRow(x, gamma, y, inverse, width, square / width + epsilon);
}

void RmsNorm(Call& call) {
  const Rows rows = RowsOf(call.arg(0), call.arg(1));
  const float *x = call.arg(0).floats(), *gamma = call.arg(1).floats();
  float *y = call.out(0).floats(), *inverse = call.out(1).floats();
  const float epsilon = call.number("epsilon");
  call.Ranges(rows.count, call.Parts(rows.count, kSmallest / rows.width),
              [&](int64_t, int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  RmsRow(x + i * rows.width, gamma + i / rows.each * rows.width,
                         y + i * rows.width, inverse + i, rows.width, epsilon);
                }
              });
}

void AddRmsNorm(Call& call) {
  const Rows rows = RowsOf(call.arg(0), call.arg(2));
  Require(call.arg(0).size() == call.arg(1).size(), "x1 and x2 must have the same shape");
  const float *x1 = call.arg(0).floats(), *x2 = call.arg(1).floats();
  const float* gamma = call.arg(2).floats();
  float *y = call.out(0).floats(), *inverse = call.out(1).floats(), *sum = call.out(2).floats();
  const float epsilon = call.number("epsilon");
  call.Ranges(rows.count, call.Parts(rows.count, kSmallest / rows.width),
              [&](int64_t, int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  const float *a = x1 + i * rows.width, *b = x2 + i * rows.width;
                  float* total = sum + i * rows.width;
                  float square = 0;
#pragma omp simd reduction(+ : square)
                  for (int64_t j = 0; j < rows.width; ++j) {
                    const float t = a[j] + b[j];
                    total[j] = t;
                    square += t * t;
                  }
                  ScaleRow(total, gamma + i / rows.each * rows.width, y + i * rows.width,
                           inverse + i, rows.width, square / rows.width + epsilon);
                }
              });
}

// Adds up what the parts found for the factors: parts[part][set][width].
void AddParts(const float* parts, int64_t count, int64_t size, float* out) {
  for (int64_t j = 0; j < size; ++j) out[j] = parts[j];
  for (int64_t p = 1; p < count; ++p) {
    for (int64_t j = 0; j < size; ++j) out[j] += parts[p * size + j];
  }
}

void RmsNormGrad(Call& call) {
  const Rows rows = RowsOf(call.arg(1), call.arg(3));
  const float *dy = call.arg(0).floats(), *x = call.arg(1).floats();
  const float *inverse = call.arg(2).floats(), *gamma = call.arg(3).floats();
  const float* d_inverse = call.arg(4).floats();
  float *dx = call.out(0).floats(), *dgamma = call.out(1).floats();
  const int64_t width = rows.width, size = call.arg(3).size();
  const int64_t parts = call.Parts(rows.count, kSmallest / width);
  Scratch partial(parts * size);
  std::memset(partial.get(), 0, parts * size * sizeof(float));
  call.Ranges(rows.count, parts, [&](int64_t part, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t set = i / rows.each * width;
      const float *d = dy + i * width, *v = x + i * width, *g = gamma + set;
      float *out = dx + i * width, *sums = partial.get() + part * size + set;
      const float r = inverse[i];
      float product = 0;
#pragma omp simd reduction(+ : product)
      for (int64_t j = 0; j < width; ++j) {
        const float t = d[j] * v[j];
        product += t * g[j];
        sums[j] += t * r;
      }
      const float c = (product + d_inverse[i]) * r * r / width;
#pragma GCC ivdep
      for (int64_t j = 0; j < width; ++j) out[j] = r * (d[j] * g[j] - v[j] * c);
    }
  });
  AddParts(partial.get(), parts, size, dgamma);
}

void LayerNorm(Call& call) {
  const Rows rows = RowsOf(call.arg(0), call.arg(1));
  Require(call.arg(1).size() == call.arg(2).size(), "gamma and beta must have the same shape");
  const float *x = call.arg(0).floats(), *gamma = call.arg(1).floats();
  const float* beta = call.arg(2).floats();
  float *y = call.out(0).floats(), *mean = call.out(1).floats(), *inverse = call.out(2).floats();
  float* variance = call.out(3).floats();
  const float epsilon = call.number("epsilon");
  const int64_t width = rows.width;
  call.Ranges(rows.count, call.Parts(rows.count, kSmallest / width),
              [&](int64_t, int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  const float *v = x + i * width, *g = gamma + i / rows.each * width;
                  const float* b = beta + i / rows.each * width;
                  float total = 0, square = 0;
#pragma omp simd reduction(+ : total)
                  for (int64_t j = 0; j < width; ++j) total += v[j];
                  const float m = total / width;
#pragma omp simd reduction(+ : square)
                  for (int64_t j = 0; j < width; ++j) square += (v[j] - m) * (v[j] - m);
                  const float r = 1.0f / std::sqrt(square / width + epsilon);
                  float* out = y + i * width;
#pragma GCC ivdep
                  for (int64_t j = 0; j < width; ++j) out[j] = (v[j] - m) * r * g[j] + b[j];
                  mean[i] = m;
                  variance[i] = square / width;
                  inverse[i] = r;
                }
              });
}

void LayerNormGrad(Call& call) {
  const Rows rows = RowsOf(call.arg(1), call.arg(4));
  const float *dy = call.arg(0).floats(), *x = call.arg(1).floats();
  const float *mean = call.arg(2).floats(), *inverse = call.arg(3).floats();
  const float *gamma = call.arg(4).floats(), *d_mean = call.arg(5).floats();
  const float* d_variance = call.arg(6).floats();
  float *dx = call.out(0).floats(), *dgamma = call.out(1).floats(), *dbeta = call.out(2).floats();
  const int64_t width = rows.width, size = call.arg(4).size();
  const int64_t parts = call.Parts(rows.count, kSmallest / width);
  Scratch partial(2 * parts * size);
  std::memset(partial.get(), 0, 2 * parts * size * sizeof(float));
  float *of_gamma = partial.get(), *of_beta = partial.get() + parts * size;
  call.Ranges(rows.count, parts, [&](int64_t part, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t set = i / rows.each * width;
      const float *d = dy + i * width, *v = x + i * width, *g = gamma + set;
      float *out = dx + i * width, *sg = of_gamma + part * size + set;
      float* sb = of_beta + part * size + set;
      const float m = mean[i], r = inverse[i];
      float total = 0, product = 0;
#pragma omp simd reduction(+ : total, product)
      for (int64_t j = 0; j < width; ++j) {
        const float normal = (v[j] - m) * r, scaled = d[j] * g[j];
        total += scaled;
        product += scaled * normal;
        sg[j] += d[j] * normal;
        sb[j] += d[j];
      }
      // What the gradients of mean and variance add is of the same form.
      const float a = (r * total - d_mean[i]) / width;
      const float b = (r * r * product - 2.0f * d_variance[i]) / width;
#pragma GCC ivdep
      for (int64_t j = 0; j < width; ++j) out[j] = r * d[j] * g[j] - a - (v[j] - m) * b;
    }
  });
  AddParts(of_gamma, parts, size, dgamma);
  AddParts(of_beta, parts, size, dbeta);
}

}  // namespace
}  // namespace kernels

KERNEL(rms_norm, kernels::RmsNorm)
KERNEL(add_rms_norm, kernels::AddRmsNorm)
KERNEL(rms_norm_grad, kernels::RmsNormGrad)
KERNEL(layer_norm, kernels::LayerNorm)
KERNEL(layer_norm_grad, kernels::LayerNormGrad)
