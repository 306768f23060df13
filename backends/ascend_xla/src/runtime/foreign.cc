// The step "foreign": a custom call's handler, called through XLA's foreign function interface.
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "../pjrt/failure.h"
#include "ffi_abi.h"
#include "program.h"

namespace ascend {
namespace {

std::mutex handlers_mutex;
std::map<std::string, ffi::Handler>& ForeignHandlers() {
  static auto* handlers = new std::map<std::string, ffi::Handler>;
  return *handlers;
}

struct ForeignError {
  std::string message;
};

ffi::Error* CreateError(ffi::ErrorCreate* a) {
  return reinterpret_cast<ffi::Error*>(new ForeignError{a->message});
}
// A handler's parts run one after another in its own thread: they wait for none of the others.
ffi::Error* Schedule(ffi::ThreadPoolSchedule* a) {
  a->task(a->data);
  return nullptr;
}
ffi::Error* CountThreads(ffi::ThreadPoolNumThreads* a) {
  *a->num_threads = 1;
  return nullptr;
}
ffi::Error* Missing(void*) {
  return reinterpret_cast<ffi::Error*>(
      new ForeignError{"the handler asks for what the platform ascend does not give it"});
}

const ffi::Api* TheApi() {
  static const ffi::Api api = [] {
    ffi::Api a{};
    a.struct_size = sizeof a;
    a.version = {sizeof a.version, nullptr, 0, 3};
    for (void*& function : a.functions) function = reinterpret_cast<void*>(Missing);
    a.functions[ffi::kErrorCreate] = reinterpret_cast<void*>(CreateError);
    a.functions[ffi::kThreadPoolSchedule] = reinterpret_cast<void*>(Schedule);
    a.functions[ffi::kThreadPoolNumThreads] = reinterpret_cast<void*>(CountThreads);
    return a;
  }();
  return &api;
}

// XLA numbers a few element types differently from PJRT.
int32_t DataType(int type) {
  switch (type) {
    case PJRT_Buffer_Type_BF16: return 16;
    case PJRT_Buffer_Type_TOKEN: return 17;
    default: return type;
  }
}

struct Foreign {
  ffi::Handler handler;
  std::string name;
  std::vector<std::string> names;
  std::vector<int32_t> dtypes;
  std::vector<int64_t> bits;
  std::vector<std::pair<int, int>> aliases;  // output, operand
};

// The text is the target, then the attributes' names in order, a line each.
std::shared_ptr<void> PrepareForeign(const Step& step, const Program&) {
  auto foreign = std::make_shared<Foreign>();
  size_t begin = 0;
  while (begin <= step.text.size()) {
    size_t end = step.text.find('\n', begin);
    if (end == std::string::npos) end = step.text.size();
    foreign->names.push_back(step.text.substr(begin, end - begin));
    begin = end + 1;
  }
  foreign->name = foreign->names.front();
  foreign->names.erase(foreign->names.begin());
  Numbers in(step.ints);
  for (size_t i = 0; i < foreign->names.size(); i++) {
    foreign->dtypes.push_back(DataType(static_cast<int>(in.Next())));
    foreign->bits.push_back(in.Next());
  }
  for (int64_t pairs = in.Next(); pairs > 0; pairs--) {
    const int output = static_cast<int>(in.Next());
    foreign->aliases.push_back({output, static_cast<int>(in.Next())});
  }
  std::lock_guard<std::mutex> lock(handlers_mutex);
  auto found = ForeignHandlers().find(foreign->name);
  if (found == ForeignHandlers().end())
    throw Failure(PJRT_Error_Code_NOT_FOUND,
                  "ascend: the custom call '" + foreign->name + "' is not registered");
  foreign->handler = found->second;
  return foreign;
}

void RunForeign(const Step& step, Frame& frame) {
  Foreign& foreign = *static_cast<Foreign*>(step.prepared.get());
  auto buffers = [&](const std::vector<int>& ids, std::vector<ffi::Buffer>* made,
                     std::vector<void*>* items) {
    for (int id : ids) {
      const Value& value = frame.value(id);
      made->push_back({offsetof(ffi::Buffer, dims) + sizeof(int64_t*), nullptr,
                       DataType(value.type), frame.data[id],
                       static_cast<int64_t>(value.dims.size()),
                       const_cast<int64_t*>(value.dims.data())});
    }
    for (ffi::Buffer& buffer : *made) items->push_back(&buffer);
  };
  std::vector<ffi::Buffer> arguments, results;
  std::vector<void*> argument_items, result_items;
  buffers(step.inputs, &arguments, &argument_items);
  buffers(step.outputs, &results, &result_items);
  for (auto [output, operand] : foreign.aliases) {
    std::memcpy(results[output].data, arguments[operand].data,
                frame.value(step.inputs[operand]).bytes);
    arguments[operand].data = results[output].data;
  }
  std::vector<int32_t> kinds(std::max(arguments.size(), results.size()) + 1, ffi::kBuffer);
  const size_t count = foreign.names.size();
  std::vector<int32_t> attribute_kinds(count, ffi::kScalar);
  std::vector<ffi::ByteSpan> spans(count);
  std::vector<ffi::ByteSpan*> names(count);
  std::vector<ffi::Scalar> scalars(count);
  std::vector<void*> attribute_items(count);
  for (size_t i = 0; i < count; i++) {
    spans[i] = {foreign.names[i].data(), foreign.names[i].size()};
    names[i] = &spans[i];
    scalars[i] = {foreign.dtypes[i], &foreign.bits[i]};
    attribute_items[i] = &scalars[i];
  }
  ffi::CallFrame call{};
  call.struct_size = offsetof(ffi::CallFrame, future);
  call.api = TheApi();
  call.stage = ffi::kExecute;
  call.arguments = {sizeof call.arguments, nullptr, static_cast<int64_t>(arguments.size()),
                    kinds.data(), argument_items.data()};
  call.results = {sizeof call.results, nullptr, static_cast<int64_t>(results.size()), kinds.data(),
                  result_items.data()};
  call.attributes = {sizeof call.attributes, nullptr, static_cast<int64_t>(count),
                     attribute_kinds.data(), names.data(), attribute_items.data()};
  if (ffi::Error* error = foreign.handler(&call)) {
    std::unique_ptr<ForeignError> held(reinterpret_cast<ForeignError*>(error));
    throw Internal("ascend: the custom call '" + foreign.name + "' failed: " + held->message);
  }
  if (call.future)
    throw Internal("ascend: the custom call '" + foreign.name + "' answers later than it returns");
}

const Registration foreign_step("foreign", RunForeign, PrepareForeign);

}  // namespace
}  // namespace ascend

// Makes a custom call's handler known to programs that are loaded from now on.
extern "C" __attribute__((visibility("default"))) void ascend_set_handler(const char* name,
                                                                         void* handler) {
  std::lock_guard<std::mutex> lock(ascend::handlers_mutex);
  ascend::ForeignHandlers()[name] = reinterpret_cast<ascend::ffi::Handler>(handler);
}
