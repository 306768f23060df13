// Convolution over two axes and the gradient of its weights, as products of rows of pixels.
//
// Images are (N, H, W, C), weights (KH, KW, in, out). For a row of pixels that see all columns of
// the window, what they see of a row of the image stands together: one product of depth KW * in.

#include "call.h"
#include "gemm.h"
#include "numeric.h"

namespace kernels {
namespace {

struct Window {
  int64_t batch, height, width, in, out, rows, columns, out_height, out_width;
  int64_t stride_y, stride_x, top, left;

  // First column of the image that pixel x of the result sees, maybe outside.
  int64_t start(int64_t x) const { return x * stride_x - left; }
  // Pixels begin to end see all columns of the window.
  int64_t begin() const { return std::min(out_width, (left + stride_x - 1) / stride_x); }
  int64_t end() const {
    const int64_t room = width - columns + left;
    return room < 0 ? begin() : std::max(begin(), std::min(out_width, room / stride_x + 1));
  }
  // The columns of the window that pixel x sees.
  int64_t first_column(int64_t x) const { return std::max<int64_t>(0, -start(x)); }
  int64_t last_column(int64_t x) const { return std::min(columns, width - start(x)); }
};

Window WindowOf(const Call& call, const Array& image, const Array& result, int64_t rows,
                int64_t columns) {
  Window w{};
  w.batch = image.dim(0), w.height = image.dim(1), w.width = image.dim(2), w.in = image.dim(3);
  w.out_height = result.dim(1), w.out_width = result.dim(2), w.out = result.dim(3);
  w.rows = rows, w.columns = columns;
  w.stride_y = call.integer("stride_y"), w.stride_x = call.integer("stride_x");
  w.top = call.integer("top"), w.left = call.integer("left");
  Require(result.dim(0) == w.batch && w.stride_y > 0 && w.stride_x > 0 && w.top >= 0 && w.left >= 0,
          "image and result do not fit");
  return w;
}

// Calls run(x, count, first column, end column) for runs of pixels that see the same columns.
template <class F>
void EachRun(const Window& w, F run) {
  const int64_t begin = w.begin(), end = w.end();
  if (begin < end) run(begin, end - begin, int64_t{0}, w.columns);
  for (int64_t x = 0; x < w.out_width; ++x) {
    if (x >= begin && x < end) continue;
    const int64_t first = w.first_column(x), last = w.last_column(x);
    if (first < last) run(x, int64_t{1}, first, last);
  }
}

void Convolve(Call& call) {
  const Array weights = call.arg(1);
  const Window w = WindowOf(call, call.arg(0), call.out(0), weights.dim(0), weights.dim(1));
  Require(weights.dim(2) == w.in && weights.dim(3) == w.out, "image and weights do not fit");
  const float *image = call.arg(0).floats(), *weight = weights.floats();
  float* out = call.out(0).floats();
  const int64_t panels = (w.out + kWidth - 1) / kWidth, depth = w.rows * w.columns * w.in;
  Scratch packed(panels * depth * kWidth);
  for (int64_t p = 0; p < panels; ++p) {
    CopyPadded(weight + p * kWidth, w.out, depth, std::min<int64_t>(kWidth, w.out - p * kWidth),
               packed.get() + p * depth * kWidth, depth, kWidth);
  }
  const int64_t parts = call.threads(), tasks = w.batch * w.out_height;
  Scratch scratch(parts * w.out_width * kWidth);
  call.Tasks(tasks, parts, [&](int64_t part, int64_t task) {
    const int64_t n = task / w.out_height, y = task % w.out_height * w.stride_y - w.top;
    float* sums = scratch.get() + part * w.out_width * kWidth;
    for (int64_t p = 0; p < panels; ++p) {
      std::memset(sums, 0, w.out_width * kWidth * sizeof(float));
      for (int64_t r = std::max<int64_t>(0, -y); r < std::min(w.rows, w.height - y); ++r) {
        const float* row = image + (n * w.height + y + r) * w.width * w.in;
        const float* panel = packed.get() + (p * depth + r * w.columns * w.in) * kWidth;
        EachRun(w, [&](int64_t x, int64_t count, int64_t first, int64_t last) {
          const Left pixels{row + (w.start(x) + first) * w.in, w.stride_x * w.in, 1};
          MultiplyPanel(count, (last - first) * w.in, pixels, panel + first * w.in * kWidth, kWidth,
                        sums + x * kWidth, kWidth, true);
        });
      }
      const int64_t wide = std::min<int64_t>(kWidth, w.out - p * kWidth);
      for (int64_t x = 0; x < w.out_width; ++x) {
        std::memcpy(out + (task * w.out_width + x) * w.out + p * kWidth, sums + x * kWidth,
                    wide * sizeof(float));
      }
    }
  });
}

void WeightGrad(Call& call) {
  const Array image = call.arg(0), gradient = call.arg(1), weights = call.out(0);
  const Window w = WindowOf(call, image, gradient, weights.dim(0), weights.dim(1));
  Require(weights.dim(2) == w.in && weights.dim(3) == w.out, "image and weights do not fit");
  const float *from = image.floats(), *d = gradient.floats();
  float* out = weights.floats();
  const int64_t panels = (w.out + kWidth - 1) / kWidth, depth = w.columns * w.in;
  const int64_t parts = call.threads(), each = (depth + w.out_width) * kWidth;
  Scratch scratch(parts * each);
  call.Tasks(w.rows * panels, parts, [&](int64_t part, int64_t task) {
    const int64_t r = task / panels, at = task % panels * kWidth;
    const int64_t wide = std::min<int64_t>(kWidth, w.out - at);
    float *sums = scratch.get() + part * each, *pixels = sums + depth * kWidth;
    std::memset(sums, 0, depth * kWidth * sizeof(float));
    for (int64_t i = 0; i < w.batch * w.out_height; ++i) {
      const int64_t y = i % w.out_height * w.stride_y - w.top + r;
      if (y < 0 || y >= w.height) continue;
      CopyPadded(d + i * w.out_width * w.out + at, w.out, w.out_width, wide, pixels, w.out_width,
                 kWidth);
      const float* row = from + (i / w.out_height * w.height + y) * w.width * w.in;
      EachRun(w, [&](int64_t x, int64_t count, int64_t first, int64_t last) {
        const Left seen{row + (w.start(x) + first) * w.in, 1, w.stride_x * w.in};
        MultiplyPanel((last - first) * w.in, count, seen, pixels + x * kWidth, kWidth,
                      sums + first * w.in * kWidth, kWidth, true);
      });
    }
    for (int64_t k = 0; k < depth; ++k) {
      std::memcpy(out + (r * depth + k) * w.out + at, sums + k * kWidth, wide * sizeof(float));
    }
  });
}

}  // namespace
}  // namespace kernels

KERNEL(convolution, kernels::Convolve)
KERNEL(convolution_grad, kernels::WeightGrad)
