// Convolution over one to three axes and its two gradients by oneDNN.
//
// XLA's threads each take a slice of the batch, of the groups or of the channels, and call the
// library for it alone. Arrays keep their plain layouts outside; what the library wants laid out
// otherwise is copied into memory that a thread keeps. Primitives are made once a shape.

#include <cstddef>
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

// Steps of an array that lies without gaps, of sizes in the order first axis, channels, space.
void Measure(int64_t rank, bool last, const int64_t* sizes, int64_t* step) {
  int64_t size = 1;
  if (last) step[1] = 1, size = sizes[1];
  for (int64_t at = rank + 1; at >= (last ? 2 : 1); --at) step[at] = size, size *= sizes[at];
  step[0] = size;
}

void Measure(Problem* p) {
  int64_t x[5] = {p->batch, p->groups * p->in}, y[5] = {p->batch, p->groups * p->out};
  int64_t w[5] = {p->groups * p->out, p->in};
  for (int64_t i = 0; i < p->rank; ++i) {
    x[2 + i] = p->image[i], w[2 + i] = p->window[i], y[2 + i] = p->result[i];
  }
  Measure(p->rank, p->last, x, p->x_step);
  Measure(p->rank, p->last, w, p->w_step);
  Measure(p->rank, p->last, y, p->y_step);
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
  Require(x.rank() >= 3 && x.rank() <= 5 && x.rank() == w.rank() && x.rank() == y.rank(),
          "arrays must have 3 to 5 axes");
  p.rank = x.rank() - 2;
  const int64_t channels = p.last ? -1 : 1, space = p.last ? 1 : 2;
  Require(p.groups > 0 && x.dim(0) == y.dim(0) && x.dim(channels) == w.dim(channels) * p.groups &&
              y.dim(channels) == w.dim(0) && w.dim(0) % p.groups == 0,
          "image, weights and result do not fit");
  p.batch = x.dim(0), p.in = w.dim(channels), p.out = w.dim(0) / p.groups;
  for (int64_t i = 0; i < p.rank; ++i) {
    p.image[i] = x.dim(space + i), p.window[i] = w.dim(space + i), p.result[i] = y.dim(space + i);
    const std::string at(1, static_cast<char>('0' + i));
    p.stride[i] = call.integer(("stride_" + at).c_str());
    p.dilation[i] = call.integer(("dilation_" + at).c_str());
    p.low[i] = call.integer(("low_" + at).c_str());
    Require(p.stride[i] > 0 && p.dilation[i] > 0 && p.low[i] >= 0, "a step or an edge is no size");
  }
  Measure(&p);
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

// A convolution as the library describes it, with the layouts of its arrays outside.
class Description {
 public:
  Description(const Api& api, const Problem& p) : api_(api), p_(p) {
    axes_ = static_cast<int>(p.rank) + 2, grouped_ = p.groups > 1;
    x_[0] = y_[0] = p.batch, x_[1] = p.groups * p.in, y_[1] = p.groups * p.out;
    w_[0] = p.groups, w_step_[0] = p.out * p.w_step[0];
    w_[grouped_] = p.out, w_[grouped_ + 1] = p.in;
    w_step_[grouped_] = p.w_step[0], w_step_[grouped_ + 1] = p.w_step[1];
    for (int64_t i = 0; i < p.rank; ++i) {
      x_[2 + i] = p.image[i], y_[2 + i] = p.result[i];
      w_[grouped_ + 2 + i] = p.window[i], w_step_[grouped_ + 2 + i] = p.w_step[2 + i];
      stride_[i] = p.stride[i], dilation_[i] = p.dilation[i] - 1, low_[i] = p.low[i];
      const int64_t reach = (p.window[i] - 1) * p.dilation[i] + 1;
      high_[i] = (p.result[i] - 1) * p.stride[i] + reach - p.image[i] - p.low[i];
    }
    // Where channels are last and whole, the library can work on arrays as they lie.
    const bool whole = p.last && p.x_step[1 + p.rank] == x_[1] && p.y_step[1 + p.rank] == y_[1];
    if (!whole || !Choose(true)) Choose(false);
  }

  // Whether the library has a kernel for it, not only its slow way for everything.
  bool fast() const { return fast_; }

  Plan Make() const {
    Plan plan;
    plan.operand[kX].plain = Describe(api_, axes_, x_, p_.x_step);
    plan.operand[kW].plain = Describe(api_, axes_ + grouped_, w_, w_step_);
    plan.operand[kY].plain = Describe(api_, axes_, y_, p_.y_step);
    const Handle chosen = this->chosen();
    onednn::Check(api_, api_.primitive_create(&plan.primitive, chosen), "convolution");
    const Handle scratch = api_.primitive_desc_query_md(chosen, onednn::kScratchpadSize, 0);
    plan.scratch = scratch == nullptr ? 0 : api_.memory_desc_get_size(scratch);
    const int queries[] = {p_.role == kY ? onednn::kResult : onednn::kDiffResult,
                           p_.role == kX ? onednn::kDiffSource : onednn::kSource,
                           p_.role == kW ? onednn::kDiffWeights : onednn::kWeights};
    for (int role : {kY, kX, kW}) {
      Operand& operand = plan.operand[role];
      const Handle wanted = api_.primitive_desc_query_md(chosen, queries[role], 0);
      onednn::Check(api_, api_.memory_desc_clone(&operand.wanted, wanted), "layout");
      if (api_.memory_desc_equal(operand.plain, operand.wanted)) continue;
      operand.bytes = api_.memory_desc_get_size(operand.wanted);
      operand.copy = role == p_.role ? Copy(api_, operand.wanted, operand.plain)
                                     : Copy(api_, operand.plain, operand.wanted);
    }
    return plan;
  }

 private:
  Handle chosen() const { return (p_.role == kY ? forward_ : backward_)->handle; }

  bool Choose(bool in_place) {
    HeldLayout x{api_, in_place ? Describe(api_, axes_, x_, p_.x_step) : Any(api_, axes_, x_)};
    HeldLayout y{api_, in_place ? Describe(api_, axes_, y_, p_.y_step) : Any(api_, axes_, y_)};
    HeldLayout w{api_, Any(api_, axes_ + grouped_, w_)};
    HeldAttributes attributes{api_};
    onednn::Check(api_, api_.primitive_attr_create(&attributes.handle), "attributes");
    onednn::Check(api_, api_.primitive_attr_set_scratchpad_mode(attributes.handle, onednn::kUser),
                  "attributes");
    forward_ = std::make_unique<HeldPrimitive>(HeldPrimitive{api_});
    backward_ = std::make_unique<HeldPrimitive>(HeldPrimitive{api_});
    onednn::Check(api_,
                  api_.convolution_forward_primitive_desc_create(
                      &forward_->handle, api_.engine, onednn::kForwardTraining, onednn::kDirect,
                      x.handle, w.handle, nullptr, y.handle, stride_, dilation_, low_, high_,
                      attributes.handle),
                  "convolution");
    if (p_.role == kX) {
      onednn::Check(api_,
                    api_.convolution_backward_data_primitive_desc_create(
                        &backward_->handle, api_.engine, onednn::kDirect, x.handle, w.handle,
                        y.handle, stride_, dilation_, low_, high_, forward_->handle,
                        attributes.handle),
                    "gradient of the image");
    } else if (p_.role == kW) {
      onednn::Check(api_,
                    api_.convolution_backward_weights_primitive_desc_create(
                        &backward_->handle, api_.engine, onednn::kDirect, x.handle, w.handle,
                        nullptr, y.handle, stride_, dilation_, low_, high_, forward_->handle,
                        attributes.handle),
                    "gradient of the weights");
    }
    const char* name = "";
    onednn::Check(api_,
                  api_.primitive_desc_query(chosen(), onednn::kImplementation, 0, &name),
                  "implementation");
    return fast_ = std::strncmp(name, "ref", 3) != 0;
  }

  const Api& api_;
  const Problem& p_;
  int axes_, grouped_;
  bool fast_ = false;
  onednn::Dims x_, y_, w_, w_step_, stride_, dilation_, low_, high_;
  std::unique_ptr<HeldPrimitive> forward_, backward_;
};

// Plans by their problems; they are kept for the life of the process.
const Plan& PlanOf(const Api& api, const Problem& p) {
  static std::mutex* mutex = new std::mutex();
  static auto* plans = new std::unordered_map<std::string, Plan>();
  const std::string key(reinterpret_cast<const char*>(&p), sizeof(p));
  std::lock_guard<std::mutex> lock(*mutex);
  auto found = plans->find(key);
  if (found == plans->end()) found = plans->emplace(key, Description(api, p).Make()).first;
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

// Loads the library; gives an empty text or why it cannot be used.
extern "C" __attribute__((visibility("default"))) const char* mindjax_onednn_load(
    const char* path) {
  return onednn::Load(path);
}

// Whether the loaded library has a kernel for a convolution: its numbers are those of a Problem
// down to the zeros before the image.
extern "C" __attribute__((visibility("default"))) int mindjax_onednn_fast(const int64_t* numbers) {
  kernels::Problem p;
  std::memset(&p, 0, sizeof(p));
  std::memcpy(&p, numbers, offsetof(kernels::Problem, x_step));
  kernels::Measure(&p);
  try {
    const onednn::Api& api = onednn::TheApi();
    const onednn::Alone alone(api);
    return kernels::Description(api, p).fast();
  } catch (const std::exception&) {
    return 0;
  }
}
