// Convolution over one to three axes and its two gradients by oneDNN.
//
// XLA's threads each take a slice of the batch, of the groups or of the channels, and call the
// library for it alone. Arrays keep their plain layouts outside; what the library wants laid out
// otherwise is copied into memory that a thread keeps. Primitives are made once a shape.

#include <cstdlib>
#include <unordered_map>

#include "call.h"
#include "onednn.h"

namespace kernels {
namespace {

using onednn::Api;
using onednn::Handle;

enum Role : int64_t { kY = 0, kX = 1, kW = 2 };  // result, image, weights
enum Axis { kBatch, kGroups, kOut, kIn };

constexpr int64_t kVector = 16;        // channels that the library takes together
constexpr double kMultiplications = 32;  // a core's in the time of moving a float
constexpr double kHandOver = 3e4;        // floats moved in the time of waking a thread

// Sizes and numbers of a convolution; channels are those of a group.
struct Problem {
  int64_t role, rank, last;  // what is computed, axes of space, whether channels are the last axis
  int64_t batch, groups, out, in;
  int64_t image[3], window[3], result[3];
  int64_t stride[3], dilation[3], low[3];
  // Steps between elements of the whole arrays, in floats: first axis, channels, space.
  int64_t x_step[5], w_step[5], y_step[5];

  int64_t Space(const int64_t* sizes) const {
    int64_t count = 1;
    for (int64_t i = 0; i < rank; ++i) count *= sizes[i];
    return count;
  }
  double XSize() const { return double(batch) * groups * in * Space(image); }
  double YSize() const { return double(batch) * groups * out * Space(result); }
  double WSize() const { return double(groups) * out * in * Space(window); }
  double Work() const { return YSize() * in * Space(window); }
  int64_t& Length(Axis axis) {
    int64_t* lengths[] = {&batch, &groups, &out, &in};
    return *lengths[axis];
  }
};
static_assert(sizeof(Problem) % sizeof(int64_t) == 0, "a problem is a list of numbers");
constexpr size_t kNumbers = sizeof(Problem) / sizeof(int64_t);

// Sizes of an array's axes in the order first, channels, space, and its steps.
void Measure(const Array& a, bool last, int64_t* sizes, int64_t* step) {
  const int64_t rank = a.rank();
  int64_t size = 1;
  for (int64_t at = rank - 1; at >= 0; --at) {
    const int64_t to = !last || at == 0 ? at : at == rank - 1 ? 1 : at + 1;
    sizes[to] = a.dim(at);
    step[to] = size;
    size *= a.dim(at);
  }
}

Problem Read(const Call& call) {
  Problem p;
  std::memset(&p, 0, sizeof(p));
  p.role = call.integer("role");
  p.last = call.integer("channels_last");
  p.groups = call.integer("groups");
  Array x = call.arg(0), w = call.arg(1), y = call.out(0);
  if (p.role == kX) std::swap(x, y);
  if (p.role == kW) std::swap(w, y);
  int64_t xs[5], ws[5], ys[5];
  Require(x.rank() >= 3 && x.rank() <= 5 && x.rank() == w.rank() && x.rank() == y.rank(),
          "arrays must have 3 to 5 axes");
  p.rank = x.rank() - 2;
  Measure(x, p.last, xs, p.x_step);
  Measure(w, p.last, ws, p.w_step);
  Measure(y, p.last, ys, p.y_step);
  Require(p.groups > 0 && xs[0] == ys[0] && xs[1] == ws[1] * p.groups && ys[1] == ws[0] &&
              ys[1] % p.groups == 0,
          "image, weights and result do not fit");
  p.batch = xs[0], p.in = ws[1], p.out = ws[0] / p.groups;
  for (int64_t i = 0; i < p.rank; ++i) {
    p.image[i] = xs[2 + i], p.window[i] = ws[2 + i], p.result[i] = ys[2 + i];
    const std::string at(1, static_cast<char>('0' + i));
    p.stride[i] = call.integer(("stride_" + at).c_str());
    p.dilation[i] = call.integer(("dilation_" + at).c_str());
    p.low[i] = call.integer(("low_" + at).c_str());
    Require(p.stride[i] > 0 && p.dilation[i] > 0 && p.low[i] >= 0, "a step or an edge is no size");
  }
  return p;
}

// An array of a slice: how it lies, how the library wants it, and the copy between them.
struct Operand {
  Handle plain = nullptr, wanted = nullptr, copy = nullptr;
  size_t bytes = 0;  // of the wanted form, if it is another
};

struct Plan {
  Handle primitive = nullptr;
  Operand operand[3];  // by role
  size_t scratch = 0;
};

Handle Describe(const Api& api, int axes, const int64_t* sizes, const int64_t* step) {
  Handle found = nullptr;
  const int status =
      api.memory_desc_create_with_strides(&found, axes, sizes, onednn::kFloat32, step);
  onednn::Check(api, status, "layout");
  return found;
}

Handle Any(const Api& api, int axes, const int64_t* sizes) {
  Handle found = nullptr;
  const int status =
      api.memory_desc_create_with_tag(&found, axes, sizes, onednn::kFloat32, onednn::kAny);
  onednn::Check(api, status, "layout");
  return found;
}

// A description that is given back at the end of a scope.
template <int (*Api::*destroy)(Handle)>
struct Held {
  const Api& api;
  Handle handle = nullptr;
  ~Held() {
    if (handle != nullptr) (api.*destroy)(handle);
  }
};
using HeldPrimitive = Held<&Api::primitive_desc_destroy>;
using HeldLayout = Held<&Api::memory_desc_destroy>;
using HeldAttributes = Held<&Api::primitive_attr_destroy>;

Handle Copy(const Api& api, Handle from, Handle to) {
  HeldPrimitive made{api};
  const Handle engine = api.engine;
  onednn::Check(
      api, api.reorder_primitive_desc_create(&made.handle, from, engine, to, engine, nullptr),
      "reorder");
  Handle primitive = nullptr;
  onednn::Check(api, api.primitive_create(&primitive, made.handle), "reorder");
  return primitive;
}

Plan Make(const Api& api, const Problem& p) {
  Plan plan;
  const int axes = static_cast<int>(p.rank) + 2, grouped = p.groups > 1;
  onednn::Dims x = {p.batch, p.groups * p.in}, y = {p.batch, p.groups * p.out};
  onednn::Dims w = {p.groups}, w_step = {p.out * p.w_step[0]};
  onednn::Dims stride, dilation, low, high;
  w[grouped] = p.out, w[grouped + 1] = p.in;
  w_step[grouped] = p.w_step[0], w_step[grouped + 1] = p.w_step[1];
  for (int64_t i = 0; i < p.rank; ++i) {
    x[2 + i] = p.image[i], y[2 + i] = p.result[i];
    w[grouped + 2 + i] = p.window[i], w_step[grouped + 2 + i] = p.w_step[2 + i];
    stride[i] = p.stride[i], dilation[i] = p.dilation[i] - 1, low[i] = p.low[i];
    const int64_t reach = (p.window[i] - 1) * p.dilation[i] + 1;
    high[i] = (p.result[i] - 1) * p.stride[i] + reach - p.image[i] - p.low[i];
  }
  plan.operand[kX].plain = Describe(api, axes, x, p.x_step);
  plan.operand[kW].plain = Describe(api, axes + grouped, w, w_step);
  plan.operand[kY].plain = Describe(api, axes, y, p.y_step);
  // Where channels are last the library works on arrays as they lie.
  HeldLayout any_x{api, p.last ? Describe(api, axes, x, p.x_step) : Any(api, axes, x)};
  HeldLayout any_y{api, p.last ? Describe(api, axes, y, p.y_step) : Any(api, axes, y)};
  HeldLayout any_w{api, Any(api, axes + grouped, w)};

  HeldAttributes attributes{api};
  onednn::Check(api, api.primitive_attr_create(&attributes.handle), "attributes");
  onednn::Check(api, api.primitive_attr_set_scratchpad_mode(attributes.handle, onednn::kUser),
                "attributes");
  HeldPrimitive forward{api}, backward{api};
  onednn::Check(api,
                api.convolution_forward_primitive_desc_create(
                    &forward.handle, api.engine, onednn::kForwardTraining, onednn::kDirect,
                    any_x.handle, any_w.handle, nullptr, any_y.handle, stride, dilation, low, high,
                    attributes.handle),
                "convolution");
  Handle chosen = forward.handle;
  int of_x = onednn::kSource, of_w = onednn::kWeights, of_y = onednn::kResult;
  if (p.role == kX) {
    onednn::Check(api,
                  api.convolution_backward_data_primitive_desc_create(
                      &backward.handle, api.engine, onednn::kDirect, any_x.handle, any_w.handle,
                      any_y.handle, stride, dilation, low, high, forward.handle,
                      attributes.handle),
                  "gradient of the image");
    of_x = onednn::kDiffSource, of_y = onednn::kDiffResult;
  } else if (p.role == kW) {
    onednn::Check(api,
                  api.convolution_backward_weights_primitive_desc_create(
                      &backward.handle, api.engine, onednn::kDirect, any_x.handle, any_w.handle,
                      nullptr, any_y.handle, stride, dilation, low, high, forward.handle,
                      attributes.handle),
                  "gradient of the weights");
    of_w = onednn::kDiffWeights, of_y = onednn::kDiffResult;
  }
  if (p.role != kY) chosen = backward.handle;
  onednn::Check(api, api.primitive_create(&plan.primitive, chosen), "convolution");
  const Handle scratch = api.primitive_desc_query_md(chosen, onednn::kScratchpadSize, 0);
  plan.scratch = scratch == nullptr ? 0 : api.memory_desc_get_size(scratch);
  const int queries[] = {of_y, of_x, of_w};
  for (int role : {kY, kX, kW}) {
    Operand& operand = plan.operand[role];
    const Handle wanted = api.primitive_desc_query_md(chosen, queries[role], 0);
    onednn::Check(api, api.memory_desc_clone(&operand.wanted, wanted), "layout");
    if (api.memory_desc_equal(operand.plain, operand.wanted)) continue;
    operand.bytes = api.memory_desc_get_size(operand.wanted);
    operand.copy = role == p.role ? Copy(api, operand.wanted, operand.plain)
                                  : Copy(api, operand.plain, operand.wanted);
  }
  return plan;
}

// Plans by their problems; they are kept for the life of the process.
const Plan& PlanOf(const Api& api, const Problem& p) {
  static std::mutex* mutex = new std::mutex();
  static auto* plans = new std::unordered_map<std::string, Plan>();
  const std::string key(reinterpret_cast<const char*>(&p), sizeof(p));
  std::lock_guard<std::mutex> lock(*mutex);
  auto found = plans->find(key);
  if (found == plans->end()) found = plans->emplace(key, Make(api, p)).first;
  return found->second;
}

// Memory that a thread keeps for its next call.
class Kept {
 public:
  ~Kept() { std::free(data_); }
  void* Get(size_t bytes) {
    if (bytes > size_) {
      std::free(data_);
      size_ = 0;
      data_ = std::aligned_alloc(64, (bytes + 127) / 64 * 64);
      if (data_ == nullptr) throw std::bad_alloc();
      size_ = bytes;
    }
    return data_;
  }

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
};

struct Own {
  Kept operand[3], scratch, sums;
  Handle stream = nullptr;
  ~Own() {
    if (stream != nullptr) onednn::TheApi().stream_destroy(stream);
  }
};

Own& OfThread() {
  static thread_local Own own;
  return own;
}

struct HeldMemory {
  const Api& api;
  Handle handle = nullptr;
  HeldMemory(const Api& api, Handle layout, void* data) : api(api) {
    onednn::Check(api, api.memory_create(&handle, layout, api.engine, data), "memory");
  }
  ~HeldMemory() { api.memory_destroy(handle); }
  HeldMemory(const HeldMemory&) = delete;
};

void Execute(const Api& api, const Problem& p, float* const* arrays) {
  const onednn::Alone alone(api);
  const Plan& plan = PlanOf(api, p);
  Own& own = OfThread();
  if (own.stream == nullptr) {
    onednn::Check(api, api.stream_create(&own.stream, api.engine, onednn::kInOrder), "stream");
  }
  std::unique_ptr<HeldMemory> plain[3], wanted[3];
  for (int role : {kY, kX, kW}) {
    const Operand& operand = plan.operand[role];
    plain[role] = std::make_unique<HeldMemory>(api, operand.plain, arrays[role]);
    if (operand.copy == nullptr) continue;
    void* data = own.operand[role].Get(operand.bytes);
    wanted[role] = std::make_unique<HeldMemory>(api, operand.wanted, data);
  }
  const auto copy = [&](int role, const HeldMemory& from, const HeldMemory& to) {
    const onednn::Argument moved[] = {{onednn::kFrom, from.handle}, {onednn::kTo, to.handle}};
    onednn::Check(api, api.primitive_execute(plan.operand[role].copy, own.stream, 2, moved),
                  "reorder");
  };
  for (int role : {kY, kX, kW}) {
    if (role != p.role && wanted[role]) copy(role, *plain[role], *wanted[role]);
  }
  const int places[] = {p.role == kY ? onednn::kTo : onednn::kDiffTo,
                        p.role == kX ? onednn::kDiffFrom : onednn::kFrom,
                        p.role == kW ? onednn::kDiffWeightsPlace : onednn::kWeightsPlace};
  onednn::Argument arguments[4];
  for (int role : {kY, kX, kW}) {
    arguments[role] = {places[role], (wanted[role] ? wanted[role] : plain[role])->handle};
  }
  std::unique_ptr<HeldMemory> scratch;
  int count = 3;
  if (plan.scratch > 0) {
    onednn::Dims size = {static_cast<int64_t>(plan.scratch / 4 + 1)}, step = {1};
    HeldLayout bytes{api, Describe(api, 1, size, step)};
    scratch = std::make_unique<HeldMemory>(api, bytes.handle, own.scratch.Get(plan.scratch + 4));
    arguments[count++] = {onednn::kScratchpad, scratch->handle};
  }
  onednn::Check(api, api.primitive_execute(plan.primitive, own.stream, count, arguments),
                "convolution");
  if (wanted[p.role]) copy(p.role, *wanted[p.role], *plain[p.role]);
  onednn::Check(api, api.stream_wait(own.stream), "stream");
}

// How a problem is cut, chosen by what a part multiplies and moves.
struct Cut {
  Axis axis = kBatch;
  int64_t parts = 1, unit = 1;

  Cut(Problem p, int64_t threads) {
    if (threads < 2) return;
    const double x = p.XSize(), w = p.WSize(), y = p.YSize();
    const auto cost = [&](double work, double moved) { return work / kMultiplications + moved; };
    double best = cost(p.Work(), x + w + y);
    for (Axis of : {kBatch, kGroups, kOut, kIn}) {
      if ((of == kOut && p.role == kX) || (of == kIn && p.role == kY)) continue;  // sums of parts
      if (of > kGroups && p.groups > 1) continue;
      const int64_t step = of == kBatch ? 1 : of > kGroups || p.in * p.out == 1 ? kVector : 1;
      const int64_t units = p.Length(of) / step, count = std::min(units, threads);
      if (count < 2) continue;
      const double share = double((units + count - 1) / count) / units;
      double moved = of == kBatch    ? (x + y) * share + w * (p.role == kW ? 2.5 : 1)
                     : of == kGroups ? (x + w + y) * share
                     : of == kOut    ? x + (w + y) * share
                                     : y + (w + x) * share;
      const double found = cost(p.Work() * share, moved) + kHandOver;
      if (found >= best) continue;
      best = found, axis = of, parts = count, unit = step;
    }
  }
};

void Convolve(Call& call) {
  const Api& api = onednn::TheApi();
  const Problem whole = Read(call);
  float* arrays[3];
  const int at[3][3] = {{2, 0, 1}, {0, 2, 1}, {1, 0, 2}};  // by what is computed, then by role
  for (int role : {kY, kX, kW}) {
    const int place = at[whole.role][role];
    arrays[role] = (place == 2 ? call.out(0) : call.arg(place)).floats();
  }
  const Cut cut(whole, call.threads());
  if (cut.parts == 1) return Execute(api, whole, arrays);
  Problem sliced = whole;
  const int64_t length = sliced.Length(cut.axis), units = length / cut.unit;
  const bool summed = cut.axis == kBatch && whole.role == kW;
  const int64_t size = static_cast<int64_t>(whole.WSize());
  float* sums = nullptr;
  if (summed) {
    sums = static_cast<float*>(OfThread().sums.Get(size * (cut.parts - 1) * sizeof(float)));
  }
  std::mutex mutex;
  std::string failure;
  call.Parallel(cut.parts, [&](int64_t part) {
    const int64_t begin = units * part / cut.parts * cut.unit;
    const int64_t end = part + 1 == cut.parts ? length : units * (part + 1) / cut.parts * cut.unit;
    Problem p = whole;
    p.Length(cut.axis) = end - begin;
    // Where the slice begins in y, x and w.
    int64_t starts[3] = {0, 0, 0};
    if (cut.axis == kBatch) {
      starts[kX] = p.x_step[0], starts[kY] = p.y_step[0];
    } else if (cut.axis == kGroups) {
      starts[kX] = p.in * p.x_step[1], starts[kY] = p.out * p.y_step[1];
      starts[kW] = p.out * p.w_step[0];
    } else if (cut.axis == kOut) {
      starts[kY] = p.y_step[1], starts[kW] = p.w_step[0];
    } else {
      starts[kX] = p.x_step[1], starts[kW] = p.w_step[1];
    }
    float* own[3];
    for (int role : {kY, kX, kW}) own[role] = arrays[role] + begin * starts[role];
    if (summed && part > 0) own[kW] = sums + (part - 1) * size;
    try {
      Execute(api, p, own);
    } catch (const std::exception& error) {
      std::lock_guard<std::mutex> lock(mutex);
      failure = error.what();
    }
  });
  if (!failure.empty()) throw std::runtime_error(failure);
  if (!summed) return;
  float* out = arrays[kW];
  call.Ranges(size, call.Parts(size, 1 << 14), [&](int64_t, int64_t begin, int64_t end) {
    for (int64_t part = 0; part + 1 < cut.parts; ++part) {
      const float* more = sums + part * size;
      for (int64_t i = begin; i < end; ++i) out[i] += more[i];
    }
  });
}

}  // namespace
}  // namespace kernels

KERNEL(onednn_convolution, kernels::Convolve)

extern "C" __attribute__((visibility("default"))) const char* mindjax_onednn_load(
    const char* path) {
  return onednn::Load(path);
}
