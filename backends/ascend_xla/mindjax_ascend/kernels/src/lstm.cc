// The loop of an LSTM over time: weights stand packed for all steps, and each thread runs all steps
// of its own part of the batch. Gates are i, f, g, o.

#include "call.h"
#include "gemm.h"
#include "numeric.h"

namespace kernels {
namespace {

struct Sizes {
  int64_t steps, batch, hidden, gates, padded_gates, padded_hidden;
};

Sizes SizesOf(const Array& gates, const Array& weight) {
  Sizes s{};
  s.steps = gates.dim(0), s.batch = gates.dim(1), s.gates = gates.dim(2), s.hidden = s.gates / 4;
  Require(s.gates == 4 * s.hidden && weight.dim(0) == s.gates && weight.dim(1) == s.hidden,
          "gates and weights do not fit");
  s.padded_gates = Padded(s.gates, kWidth), s.padded_hidden = Padded(s.hidden, kWidth);
  return s;
}

// (inputs (T, B, 4H), weight (4H, H), h, c (B, H)) to (outputs, activations, cells).
void Forward(Call& call) {
  const Sizes s = SizesOf(call.arg(0), call.arg(1));
  const float *inputs = call.arg(0).floats(), *weight = call.arg(1).floats();
  const float *h0 = call.arg(2).floats(), *c0 = call.arg(3).floats();
  float *out = call.out(0).floats(), *kept = call.out(1).floats(), *cells = call.out(2).floats();
  const int64_t H = s.hidden, B = s.batch;
  Scratch packed(H * s.padded_gates);
  for (int64_t j = 0; j < s.gates; j += kWidth) {
    CopyTurned(weight + j * H, H, std::min<int64_t>(kWidth, s.gates - j), H, packed.get() + j * H,
               kWidth, H);
  }
  const int64_t parts = call.Parts(B, 8);
  Scratch scratch(B * s.padded_gates);
  call.Ranges(B, parts, [&](int64_t, int64_t begin, int64_t end) {
    for (int64_t t = 0; t < s.steps; ++t) {
      const float* h = t == 0 ? h0 : out + (t - 1) * B * H;
      const float* c = t == 0 ? c0 : cells + (t - 1) * B * H;
      for (int64_t j = 0; j < s.padded_gates; j += kWidth) {
        MultiplyPanel(end - begin, H, {h + begin * H, H, 1}, packed.get() + j * H, kWidth,
                      scratch.get() + begin * s.padded_gates + j, s.padded_gates, false);
      }
      for (int64_t b = begin; b < end; ++b) {
        const int64_t row = (t * B + b) * s.gates, at = (t * B + b) * H;
        const float *x = inputs + row, *product = scratch.get() + b * s.padded_gates;
        float *gate = kept + row, *new_cell = cells + at, *new_h = out + at;
        const float* old = c + b * H;
        for (int64_t j = 0; j < 2 * H; ++j) gate[j] = Sigmoid(x[j] + product[j]);
        for (int64_t j = 2 * H; j < 3 * H; ++j) gate[j] = Tanh(x[j] + product[j]);
        for (int64_t j = 3 * H; j < 4 * H; ++j) gate[j] = Sigmoid(x[j] + product[j]);
#pragma GCC ivdep
        for (int64_t j = 0; j < H; ++j) {
          new_cell[j] = gate[H + j] * old[j] + gate[j] * gate[2 * H + j];
          new_h[j] = gate[3 * H + j] * Tanh(new_cell[j]);
        }
      }
    }
  });
}

// (d_outputs, d_last_cell, weight, activations, cells, c) to (d_inputs, dh, dc).
void Backward(Call& call) {
  const Sizes s = SizesOf(call.arg(3), call.arg(2));
  const float *d_out = call.arg(0).floats(), *d_last = call.arg(1).floats();
  const float *weight = call.arg(2).floats(), *kept = call.arg(3).floats();
  const float *cells = call.arg(4).floats(), *c0 = call.arg(5).floats();
  float *dz = call.out(0).floats(), *dh0 = call.out(1).floats(), *dc = call.out(2).floats();
  const int64_t H = s.hidden, B = s.batch, G = s.gates;
  Scratch packed(G * s.padded_hidden), scratch(B * s.padded_hidden);
  for (int64_t j = 0; j < H; j += kWidth) {
    CopyPadded(weight + j, H, G, std::min<int64_t>(kWidth, H - j), packed.get() + j * G, G, kWidth);
  }
  std::memcpy(dc, d_last, B * H * sizeof(float));
  std::memset(scratch.get(), 0, B * s.padded_hidden * sizeof(float));
  call.Ranges(B, call.Parts(B, 8), [&](int64_t, int64_t begin, int64_t end) {
    for (int64_t t = s.steps - 1; t >= 0; --t) {
      for (int64_t b = begin; b < end; ++b) {
        const int64_t row = (t * B + b) * G, at = (t * B + b) * H;
        const float *gate = kept + row, *cell = cells + at, *d = d_out + at;
        const float* old = t == 0 ? c0 + b * H : cells + at - B * H;
        const float* dh = scratch.get() + b * s.padded_hidden;
        float *z = dz + row, *d_cell = dc + b * H;
#pragma GCC ivdep
        for (int64_t j = 0; j < H; ++j) {
          const float i = gate[j], f = gate[H + j], g = gate[2 * H + j], o = gate[3 * H + j];
          const float top = Tanh(cell[j]), of_h = dh[j] + d[j];
          const float of_cell = d_cell[j] + of_h * o * (1.0f - top * top);
          z[j] = of_cell * g * i * (1.0f - i);
          z[H + j] = of_cell * old[j] * f * (1.0f - f);
          z[2 * H + j] = of_cell * i * (1.0f - g * g);
          z[3 * H + j] = of_h * top * o * (1.0f - o);
          d_cell[j] = of_cell * f;
        }
      }
      for (int64_t j = 0; j < s.padded_hidden; j += kWidth) {
        MultiplyPanel(end - begin, G, {dz + (t * B + begin) * G, G, 1}, packed.get() + j * G,
                      kWidth, scratch.get() + begin * s.padded_hidden + j, s.padded_hidden, false);
      }
    }
    for (int64_t b = begin; b < end; ++b) {
      std::memcpy(dh0 + b * H, scratch.get() + b * s.padded_hidden, H * sizeof(float));
    }
  });
}

}  // namespace
}  // namespace kernels

KERNEL(lstm, kernels::Forward)
KERNEL(lstm_grad, kernels::Backward)
