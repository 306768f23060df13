// Convolution over two axes and the gradient of its weights, as products of runs of pixels.
//
// The image is copied once, with its edges of zeros and its channels last. There, what a run of
// pixels sees of one row of the window is a matrix whose rows overlap: a pixel's row begins a pixel
// after the one before. With a step of 1 a whole image is one run; the pixels in it whose window
// would pass an end of a row are left out of the result.

#include "call.h"
#include "gemm.h"
#include "numeric.h"

namespace kernels {
namespace {

constexpr int64_t kPixels = 128;  // of a run at a time

// How an array (N, H, W, C), or (N, C, H, W) with channels first, is laid out.
struct Layout {
  int64_t height, width, channels;
  bool first;

  Layout(const Array& x, bool first)
      : height(x.dim(first ? 2 : 1)),
        width(x.dim(first ? 3 : 2)),
        channels(x.dim(first ? 1 : 3)),
        first(first) {}
  int64_t pixel() const { return first ? 1 : channels; }
  int64_t channel() const { return first ? height * width : 1; }
};

struct Problem {
  Layout image, result;
  int64_t batch, rows, columns;            // of the window: rows and columns
  int64_t stride_y, stride_x, top, left;   // steps, and zeros before the image
  int64_t padded_width, padded_size;       // of the copy of an image, in pixels
  int64_t lines, length, line_row, pitch;  // runs of an image, their pixels, pixels of a row, step

  Problem(const Call& call, const Array& x, const Array& y, const Array& weight)
      : image(x, call.integer("channels_first")), result(y, call.integer("channels_first")) {
    batch = x.dim(0), rows = weight.dim(0), columns = weight.dim(1);
    stride_y = call.integer("stride_y"), stride_x = call.integer("stride_x");
    top = call.integer("top"), left = call.integer("left");
    Require(y.dim(0) == batch && weight.dim(2) == image.channels &&
                weight.dim(3) == result.channels && stride_y > 0 && stride_x > 0,
            "image, weights and result do not fit");
    padded_width = (result.width - 1) * stride_x + columns;
    // A run's last pixels may look past the end.
    padded_size = ((result.height - 1) * stride_y + rows) * padded_width + columns;
    const bool whole = stride_y == 1 && stride_x == 1;
    lines = whole ? 1 : result.height;
    line_row = whole ? padded_width : result.width;
    length = whole ? (result.height - 1) * padded_width + result.width : result.width;
    pitch = stride_x * image.channels;
  }
  int64_t depth() const { return columns * image.channels; }
  // Where a run's first pixel sees the first row of the window, in the copy of its image.
  int64_t start(int64_t line) const { return line * stride_y * padded_width * image.channels; }
};

// Copies an image into its padded form.
void PadImage(const Problem& p, const float* from, float* to) {
  const int64_t channels = p.image.channels;
  std::memset(to, 0, p.padded_size * channels * sizeof(float));
  const int64_t height = (p.result.height - 1) * p.stride_y + p.rows;
  for (int64_t y = std::max<int64_t>(0, -p.top); y < p.image.height && y + p.top < height; ++y) {
    const int64_t width = std::min(p.image.width, p.padded_width - p.left);
    float* row = to + ((y + p.top) * p.padded_width + p.left) * channels;
    const float* source = from + y * p.image.width * p.image.pixel();
    if (p.image.first) {
      for (int64_t c = 0; c < channels; ++c) {
        const float* plane = source + c * p.image.channel();
        for (int64_t x = 0; x < width; ++x) row[x * channels + c] = plane[x];
      }
    } else if (width > 0) {
      std::memcpy(row, source, width * channels * sizeof(float));
    }
  }
}

void PadImages(const Call& call, const Problem& p, const float* from, float* to) {
  const int64_t size = p.image.height * p.image.width * p.image.channels;
  call.Parallel(p.batch, [&](int64_t n) {
    PadImage(p, from + n * size, to + n * p.padded_size * p.image.channels);
  });
}

// Writes pixels of one row; each has its channels together.
void StorePixels(const Problem& p, const float* from, int64_t count, int64_t channels, float* to) {
  if (!p.result.first) {
    for (int64_t x = 0; x < count; ++x) {
      std::memcpy(to + x * p.result.channels, from + x * kWidth, channels * sizeof(float));
    }
    return;
  }
  for (int64_t c = 0; c < channels; ++c) {
    float* plane = to + c * p.result.channel();
    for (int64_t x = 0; x < count; ++x) plane[x] = from[x * kWidth + c];
  }
}

void Convolve(Call& call) {
  const Problem p(call, call.arg(0), call.out(0), call.arg(1));
  const float* weight = call.arg(1).floats();
  float* out = call.out(0).floats();
  const int64_t channels = p.result.channels, depth = p.depth();
  const int64_t panels = (channels + kWidth - 1) / kWidth;
  Scratch packed(panels * p.rows * depth * kWidth);
  for (int64_t j = 0; j < panels; ++j) {
    CopyPadded(weight + j * kWidth, channels, p.rows * depth,
               std::min<int64_t>(kWidth, channels - j * kWidth),
               packed.get() + j * p.rows * depth * kWidth, p.rows * depth, kWidth);
  }
  Scratch images(p.batch * p.padded_size * p.image.channels);
  PadImages(call, p, call.arg(0).floats(), images.get());
  const int64_t chunks = (p.length + kPixels - 1) / kPixels, parts = call.threads();
  Scratch scratch(parts * kPixels * kWidth);
  const int64_t size = p.result.height * p.result.width * channels;
  call.Tasks(p.batch * p.lines * chunks, parts, [&](int64_t part, int64_t task) {
    const int64_t n = task / (p.lines * chunks), line = task / chunks % p.lines;
    const int64_t first = task % chunks * kPixels, count = std::min(kPixels, p.length - first);
    const float* seen = images.get() + n * p.padded_size * p.image.channels + p.start(line) +
                        first * p.pitch;
    float* sums = scratch.get() + part * kPixels * kWidth;
    for (int64_t j = 0; j < panels; ++j) {
      for (int64_t r = 0; r < p.rows; ++r) {
        MultiplyPanel(count, depth, {seen + r * p.padded_width * p.image.channels, p.pitch, 1},
                      packed.get() + (j * p.rows + r) * depth * kWidth, kWidth, sums, kWidth, r > 0);
      }
      const int64_t wide = std::min<int64_t>(kWidth, channels - j * kWidth);
      float* to = out + n * size + j * kWidth * p.result.channel();
      // Row by row, since a run may hold pixels between them.
      for (int64_t i = 0, next; i < count; i = next) {
        const int64_t y = line + (first + i) / p.line_row, x = (first + i) % p.line_row;
        next = std::min(count, i + p.line_row - x);
        const int64_t seen_pixels = std::min(next - i, p.result.width - x);
        StorePixels(p, sums + i * kWidth, seen_pixels, wide,
                    to + (y * p.result.width + x) * p.result.pixel());
      }
    }
  });
}

// The gradient of the result as runs with zeros between rows, channels padded to whole panels.
void PadGradient(const Problem& p, const float* from, float* to, int64_t padded_channels) {
  std::memset(to, 0, p.lines * p.length * padded_channels * sizeof(float));
  for (int64_t y = 0; y < p.result.height; ++y) {
    // Runs are one a row, or one for all.
    const int64_t line = p.lines == 1 ? 0 : y, row = p.lines == 1 ? y : 0;
    float* own = to + (line * p.length + row * p.line_row) * padded_channels;
    const float* pixels = from + y * p.result.width * p.result.pixel();
    for (int64_t c = 0; c < p.result.channels; ++c) {
      const float* of_channel = pixels + c * p.result.channel();
      for (int64_t x = 0; x < p.result.width; ++x) {
        own[x * padded_channels + c] = of_channel[x * p.result.pixel()];
      }
    }
  }
}

// Rows of the weights' gradient that a tile adds up: as many as have sums in registers.
constexpr int RowsOfTile(int vectors) { return vectors == 1 ? 8 : 6; }

// Adds to rows [begin, end) of a panel of the weights' gradient what one run of pixels gives.
template <int V>
void AddRun(const Problem& p, int64_t begin, int64_t end, const float* seen, int64_t count,
            const float* gradient, int64_t gradient_row, float* sums) {
  constexpr int R = RowsOfTile(V);
  const int64_t depth = p.depth(), row = p.padded_width * p.image.channels;
  for (int64_t i = begin; i < end; i += R) {
    const float* from[R];
    // Rows beyond the last repeat it, in sums that nobody reads.
    for (int64_t t = 0; t < R; ++t) {
      const int64_t own = std::min(i + t, end - 1);
      from[t] = seen + own / depth * row + own % depth;
    }
    AddRows<R, V>(count, from, p.pitch, gradient, gradient_row, sums + i * V * kLanes,
                  V * kLanes);
  }
}

template <int V>
void WeightGradBy(Call& call, const Problem& p, const float* d, float* out) {
  constexpr int wide = V * kLanes, R = RowsOfTile(V);
  const int64_t channels = p.result.channels, depth = p.depth(), rows = p.rows * depth;
  const int64_t panels = (channels + wide - 1) / wide, padded = panels * wide;
  Scratch images(p.batch * p.padded_size * p.image.channels);
  PadImages(call, p, call.arg(0).floats(), images.get());
  const int64_t size = p.result.height * p.result.width * channels;
  const int64_t run = p.lines * p.length * padded;
  Scratch gradients(p.batch * run);
  call.Parallel(p.batch, [&](int64_t n) {
    PadGradient(p, d + n * size, gradients.get() + n * run, padded);
  });
  // Each part has tiles of its own, for which it goes through all pixels.
  const int64_t parts = call.threads(), tiles = (rows + R - 1) / R, all = tiles * R;
  const int64_t groups = std::min(tiles, std::max<int64_t>(1, (2 * parts + panels - 1) / panels));
  Scratch scratch(panels * all * wide);
  std::memset(scratch.get(), 0, panels * all * wide * sizeof(float));
  call.Tasks(groups * panels, parts, [&](int64_t, int64_t task) {
    const int64_t j = task / groups, group = task % groups;
    const int64_t begin = tiles * group / groups * R;
    const int64_t end = std::min(rows, tiles * (group + 1) / groups * R);
    float* sums = scratch.get() + j * all * wide;
    for (int64_t i = 0; i < p.batch * p.lines; ++i) {
      const float* seen = images.get() + i / p.lines * p.padded_size * p.image.channels +
                          p.start(i % p.lines);
      const float* of_run = gradients.get() + i * p.length * padded + j * wide;
      for (int64_t first = 0; first < p.length; first += kPixels) {
        AddRun<V>(p, begin, end, seen + first * p.pitch, std::min(kPixels, p.length - first),
                  of_run + first * padded, padded, sums);
      }
    }
    const int64_t present = std::min<int64_t>(wide, channels - j * wide);
    for (int64_t i = begin; i < end; ++i) {
      std::memcpy(out + i * channels + j * wide, sums + i * wide, present * sizeof(float));
    }
  });
}

void WeightGrad(Call& call) {
  const Problem p(call, call.arg(0), call.arg(1), call.out(0));
  const float* d = call.arg(1).floats();
  float* out = call.out(0).floats();
  if (p.result.channels <= kLanes) return WeightGradBy<1>(call, p, d, out);
  return WeightGradBy<2>(call, p, d, out);
}

}  // namespace
}  // namespace kernels

KERNEL(convolution, kernels::Convolve)
KERNEL(convolution_grad, kernels::WeightGrad)
