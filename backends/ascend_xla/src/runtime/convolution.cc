// The step "convolution", of float32: windows are laid out as rows and multiplied as a matrix.
#include <algorithm>
#include <cstring>

#include "gemm.h"
#include "map.h"
#include "parallel.h"
#include "program.h"
#include "tile.h"

namespace ascend {
namespace {

constexpr int64_t kRowBytes = int64_t(1) << 20;

struct Convolution {
  int64_t batch, groups, features_in, features_out, rank;  // features of one group
  std::vector<int64_t> in, out, window, stride, low, base_dilation, window_dilation, reversed;
  // Strides in elements: batch, feature, then space.
  std::vector<int64_t> lhs, rhs, result;
  int64_t lhs_group, rhs_group, result_group;
  int64_t out_places = 1, taps = 1;
};

std::shared_ptr<void> PrepareConvolution(const Step& step, const Program&) {
  Numbers in(step.ints);
  auto c = std::make_shared<Convolution>();
  c->batch = in.Next();
  c->groups = in.Next();
  c->features_in = in.Next();
  c->features_out = in.Next();
  c->rank = in.Next();
  for (auto* list : {&c->in, &c->out, &c->window, &c->stride, &c->low, &c->base_dilation,
                     &c->window_dilation, &c->reversed})
    *list = in.List(c->rank);
  // The kernel's first two strides are those of output and input features.
  for (auto* list : {&c->lhs, &c->rhs, &c->result}) *list = in.List(c->rank + 2);
  c->lhs_group = in.Next();
  c->rhs_group = in.Next();
  c->result_group = in.Next();
  c->out_places = Elements(c->out);
  c->taps = Elements(c->window);
  return c;
}

// Where each tap of each output place reads, along one axis: an offset, or -1 outside the input.
std::vector<int64_t> AxisOffsets(const Convolution& c, int64_t axis) {
  std::vector<int64_t> offsets(c.out[axis] * c.window[axis]);
  for (int64_t o = 0; o < c.out[axis]; o++)
    for (int64_t w = 0; w < c.window[axis]; w++) {
      const int64_t tap = c.reversed[axis] ? c.window[axis] - 1 - w : w;
      const int64_t place = o * c.stride[axis] + tap * c.window_dilation[axis] - c.low[axis];
      const bool inside = place >= 0 && place % c.base_dilation[axis] == 0 &&
                          place / c.base_dilation[axis] < c.in[axis];
      offsets[o * c.window[axis] + w] =
          inside ? place / c.base_dilation[axis] * c.lhs[2 + axis] : -1;
    }
  return offsets;
}

// Whether a row holds all taps of a feature together, as the image does, or all features of a tap.
bool FeaturesFirst(const Convolution& c) { return c.rank && c.lhs[1] > c.lhs[1 + c.rank]; }

// The kernel as a matrix of (tap, feature in), or the other order, by feature out.
std::vector<float> PackKernel(const Convolution& c, const float* rhs) {
  std::vector<float> packed(c.taps * c.features_in * c.features_out);
  std::vector<int64_t> index(c.rank, 0);
  const bool first = FeaturesFirst(c);
  for (int64_t tap = 0; tap < c.taps; tap++) {
    int64_t offset = 0, rest = tap;
    for (int64_t axis = c.rank; axis-- > 0;) {
      offset += rest % c.window[axis] * c.rhs[2 + axis];
      rest /= c.window[axis];
    }
    for (int64_t i = 0; i < c.features_in; i++) {
      const int64_t row = first ? i * c.taps + tap : tap * c.features_in + i;
      float* to = packed.data() + row * c.features_out;
      for (int64_t o = 0; o < c.features_out; o++) to[o] = rhs[offset + o * c.rhs[0] + i * c.rhs[1]];
    }
  }
  return packed;
}

// Lays out the window of one output place.
void LayOut(const Convolution& c, const std::vector<std::vector<int64_t>>& axes,
            const float* image, int64_t place, float* row) {
  const int64_t* of_axis[8];
  for (int64_t axis = c.rank; axis-- > 0;) {
    of_axis[axis] = axes[axis].data() + place % c.out[axis] * c.window[axis];
    place /= c.out[axis];
  }
  const int64_t last = c.rank - 1, inner = c.rank ? c.window[last] : 1;
  const bool first = FeaturesFirst(c);
  const int64_t outer = c.taps / std::max<int64_t>(inner, 1);
  for (int64_t tap = 0; tap < outer; tap++) {
    int64_t base = 0, rest = tap;
    bool inside = true;
    for (int64_t axis = last; axis-- > 0;) {
      const int64_t offset = of_axis[axis][rest % c.window[axis]];
      rest /= c.window[axis];
      inside &= offset >= 0;
      base += offset;
    }
    if (first) {
      float* to = row + tap * inner;
      const int64_t* offsets = of_axis[last];
      const bool whole = inside && c.lhs[1 + c.rank] == 1 && c.window_dilation[last] == 1 &&
                         c.base_dilation[last] == 1 && !c.reversed[last] && offsets[0] >= 0 &&
                         offsets[inner - 1] >= 0;
      for (int64_t i = 0; i < c.features_in; i++, to += c.taps) {
        const float* from = image + base + i * c.lhs[1];
        if (whole)
          std::memcpy(to, from + offsets[0], sizeof(float) * inner);
        else
          for (int64_t w = 0; w < inner; w++)
            to[w] = inside && offsets[w] >= 0 ? from[offsets[w]] : 0.0f;
      }
      continue;
    }
    for (int64_t w = 0; w < inner; w++, row += c.features_in) {
      const int64_t offset = c.rank ? of_axis[last][w] : 0;
      if (!inside || offset < 0) {
        std::fill(row, row + c.features_in, 0.0f);
        continue;
      }
      const float* from = image + base + offset;
      for (int64_t i = 0; i < c.features_in; i++) row[i] = from[i * c.lhs[1]];
    }
  }
}

// Whether windows that move by one place may be read where they lie, in an image with its padding
// around it. Results are then computed between its lines as well, and thrown away.
bool Slides(const Convolution& c) {
  if (c.rank != 2 || !c.out_places || !c.taps) return false;
  for (int axis = 0; axis < 2; axis++)
    if (c.stride[axis] != 1 || c.base_dilation[axis] != 1 || c.low[axis] < 0) return false;
  return 2 * (c.window[1] - 1) * c.window_dilation[1] <= c.out[1];
}

// The kernel's numbers by depth, for a tile's rows of features at a time; missing ones are zero.
std::vector<float> PackFeatures(const Convolution& c, const float* rhs, int64_t unit) {
  const int64_t blocks = (c.features_out + unit - 1) / unit;
  std::vector<float> packed(blocks * c.taps * c.features_in * unit);
  float* to = packed.data();
  for (int64_t first = 0; first < c.features_out; first += unit)
    for (int64_t tap = 0; tap < c.taps; tap++) {
      const float* from =
          rhs + tap / c.window[1] * c.rhs[2] + tap % c.window[1] * c.rhs[3] + first * c.rhs[0];
      const int64_t present = std::min(unit, c.features_out - first);
      for (int64_t i = 0; i < c.features_in; i++, to += unit)
        for (int64_t o = 0; o < present; o++) to[o] = from[o * c.rhs[0] + i * c.rhs[1]];
    }
  return packed;
}

// Copies an image with zeros around it.
void Surround(const Convolution& c, const float* image, int64_t height, int64_t width, float* to) {
  std::memset(to, 0, sizeof(float) * c.features_in * height * width);
  const int64_t lines = std::min(c.in[0], height - c.low[0]);
  const int64_t places = std::min(c.in[1], width - c.low[1]);
  for (int64_t i = 0; i < c.features_in; i++)
    for (int64_t y = 0; y < lines; y++) {
      const float* from = image + i * c.lhs[1] + y * c.lhs[2];
      float* line = to + (i * height + y + c.low[0]) * width + c.low[1];
      for (int64_t x = 0; x < places; x++) line[x] = from[x * c.lhs[3]];
    }
}

void SlideGroup(const Convolution& c, const float* lhs, const float* rhs, float* result) {
  const int64_t height = c.out[0] + (c.window[0] - 1) * c.window_dilation[0];
  const int64_t width = c.out[1] + (c.window[1] - 1) * c.window_dilation[1];
  const int64_t depth = c.taps * c.features_in;
  const int64_t places = (c.out[0] - 1) * width + c.out[1];
  const Tile& tile = TileFor(c.features_out, places);
  const std::vector<float> kernel = PackFeatures(c, rhs, tile.rows);
  std::vector<int64_t> offsets(depth);
  for (int64_t tap = 0; tap < c.taps; tap++) {
    int64_t at[2] = {tap / c.window[1], tap % c.window[1]};
    for (int axis = 0; axis < 2; axis++)
      if (c.reversed[axis]) at[axis] = c.window[axis] - 1 - at[axis];
    const int64_t offset = at[0] * c.window_dilation[0] * width + at[1] * c.window_dilation[1];
    for (int64_t i = 0; i < c.features_in; i++)
      offsets[tap * c.features_in + i] = offset + i * height * width;
  }
  const int64_t panels = (places + tile.columns - 1) / tile.columns;
  const int64_t room = c.features_in * height * width + tile.columns;
  ParallelFor(c.batch, 1, [&](int64_t first, int64_t last) {
    for (int64_t image = first; image < last; image++) {
      float* surrounded = reinterpret_cast<float*>(Scratch(sizeof(float) * room, 3));
      // The last tile reads beyond the image, for places that are thrown away.
      std::memset(surrounded + room - tile.columns, 0, sizeof(float) * tile.columns);
      Surround(c, lhs + image * c.lhs[0], height, width, surrounded);
      float* to = result + image * c.result[0];
      const int64_t grain = 100000 / (depth * c.features_out * tile.columns) + 1;
      ParallelFor(panels, grain, [&](int64_t begin, int64_t end) {
        float block[kTileNumbers];
        for (int64_t panel = begin; panel < end; panel++)
          for (int64_t f = 0; f < c.features_out; f += tile.rows) {
            const int64_t start = panel * tile.columns;
            tile.scattered(kernel.data() + f * depth, surrounded + start, offsets.data(), depth,
                           block);
            const int64_t stop = std::min(start + tile.columns, places);
            const int64_t features = std::min<int64_t>(tile.rows, c.features_out - f);
            for (int64_t place = start; place < stop;) {
              const int64_t y = place / width, x = place % width;
              const int64_t next = std::min(stop, (y + 1) * width);
              const int64_t count = std::min(next, y * width + c.out[1]) - place;
              for (int64_t o = 0; o < features && count > 0; o++) {
                const float* from = block + o * tile.columns + place - start;
                float* line = to + (f + o) * c.result[1] + y * c.result[2] + x * c.result[3];
                for (int64_t j = 0; j < count; j++) line[j * c.result[3]] = from[j];
              }
              place = next;
            }
          }
      });
    }
  });
}

void RunConvolution(const Step& step, Frame& frame) {
  const Convolution& c = *static_cast<const Convolution*>(step.prepared.get());
  const int64_t depth = c.taps * c.features_in, rows = c.batch * c.out_places;
  if (!rows || !c.features_out) return;
  if (Slides(c)) {
    for (int64_t g = 0; g < c.groups; g++)
      SlideGroup(c, reinterpret_cast<const float*>(frame.data[step.inputs[0]]) + g * c.lhs_group,
                 reinterpret_cast<const float*>(frame.data[step.inputs[1]]) + g * c.rhs_group,
                 reinterpret_cast<float*>(frame.data[step.outputs[0]]) + g * c.result_group);
    return;
  }
  std::vector<std::vector<int64_t>> axes;
  for (int64_t axis = 0; axis < c.rank; axis++) axes.push_back(AxisOffsets(c, axis));
  const int64_t chunk =
      std::clamp<int64_t>(kRowBytes / (4 * std::max<int64_t>(depth, 1)), 6, rows);
  const int64_t chunks = (rows + chunk - 1) / chunk;
  for (int64_t g = 0; g < c.groups; g++) {
    const float* lhs =
        reinterpret_cast<const float*>(frame.data[step.inputs[0]]) + g * c.lhs_group;
    const float* rhs =
        reinterpret_cast<const float*>(frame.data[step.inputs[1]]) + g * c.rhs_group;
    float* result = reinterpret_cast<float*>(frame.data[step.outputs[0]]) + g * c.result_group;
    const std::vector<float> kernel = PackKernel(c, rhs);
    auto work = [&](int64_t begin, int64_t end) {
      std::vector<float> laid(chunk * depth), product(chunk * c.features_out);
      for (int64_t i = begin; i < end; i++) {
        const int64_t first = i * chunk, count = std::min(chunk, rows - first);
        for (int64_t r = 0; r < count; r++)
          LayOut(c, axes, lhs + (first + r) / c.out_places * c.lhs[0],
                 (first + r) % c.out_places, laid.data() + r * depth);
        Gemm(count, c.features_out, depth, {laid.data(), depth, 1},
             {kernel.data(), c.features_out, 1}, {product.data(), c.features_out, 1});
        for (int64_t r = 0; r < count; r++) {
          int64_t place = (first + r) % c.out_places;
          float* to = result + (first + r) / c.out_places * c.result[0];
          for (int64_t axis = c.rank; axis-- > 0;) {
            to += place % c.out[axis] * c.result[2 + axis];
            place /= c.out[axis];
          }
          const float* from = product.data() + r * c.features_out;
          for (int64_t o = 0; o < c.features_out; o++) to[o * c.result[1]] = from[o];
        }
      }
    };
    if (chunks > 1)
      ParallelFor(chunks, 1, work);
    else
      work(0, chunks);
  }
}

const Registration convolution_step("convolution", RunConvolution, PrepareConvolution);

}  // namespace
}  // namespace ascend
