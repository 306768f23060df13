// The table of functions that the loader asks for, errors and events.
#include "api.h"

#include <cstring>

#include "failure.h"
#include "ffi.h"
#include "signal.h"

namespace ascend {
namespace {

struct Error : PJRT_Error {
  PJRT_Error_Code code;
  std::string message;
};

void ErrorMessage(const PJRT_Error* error, const char** message, size_t* size) {
  const std::string& text = static_cast<const Error*>(error)->message;
  *message = text.data();
  *size = text.size();
}

const PJRT_Error_FunctionTable kErrorTable = {
    sizeof(PJRT_Error_FunctionTable),
    sizeof(Error),
    nullptr,
    [](PJRT_Error* error) { delete static_cast<Error*>(error); },
    ErrorMessage,
    [](const PJRT_Error* error) { return static_cast<const Error*>(error)->code; },
    [](const PJRT_Error*, PJRT_Error_PayloadVisitor, void*) {}};

int64_t stablehlo_version[3] = {1, 0, 0};
const int64_t kOldestStablehlo[3] = {1, 0, 0};

PJRT_NamedValue Version(const char* name, const int64_t* numbers) {
  PJRT_NamedValue value{};
  value.struct_size = sizeof value;
  value.name = name;
  value.name_size = std::strlen(name);
  value.type = PJRT_NamedValue_kInt64List;
  value.int64_array_value = numbers;
  value.value_size = 3;
  return value;
}

}  // namespace

PJRT_Error* NewError(PJRT_Error_Code code, const std::string& message) {
  auto* error = new Error;
  error->vtable = &kErrorTable;
  error->code = code;
  error->message = message;
  return error;
}

void Implement(PJRT_Error_Destroy_Args* a) { delete static_cast<Error*>(a->error); }
void Implement(PJRT_Error_Message_Args* a) {
  ErrorMessage(a->error, &a->message, &a->message_size);
}
void Implement(PJRT_Error_GetCode_Args* a) { a->code = static_cast<const Error*>(a->error)->code; }
void Implement(PJRT_Error_ForEachPayload_Args*) {}

void Implement(PJRT_Plugin_Initialize_Args*) {}
void Implement(PJRT_Plugin_Attributes_Args* a) {
  static const PJRT_NamedValue attributes[] = {
      Version("stablehlo_current_version", stablehlo_version),
      Version("stablehlo_minimum_version", kOldestStablehlo)};
  a->attributes = attributes;
  a->num_attributes = 2;
}

void Implement(PJRT_Event_Destroy_Args* a) { delete a->event; }
void Implement(PJRT_Event_IsReady_Args* a) { a->is_ready = a->event->signal->ready(); }
void Implement(PJRT_Event_Error_Args* a) {
  if (const Failure* failure = a->event->signal->failure()) throw *failure;
}
void Implement(PJRT_Event_Await_Args* a) {
  a->event->signal->Wait();
  if (const Failure* failure = a->event->signal->failure()) throw *failure;
}
void Implement(PJRT_Event_OnReady_Args* a) {
  auto signal = a->event->signal;
  signal->OnReady([signal, callback = a->callback, argument = a->user_arg] {
    const Failure* failure = signal->failure();
    callback(failure ? NewError(failure->code, failure->message) : nullptr, argument);
  });
}

namespace {

template <typename Args>
PJRT_Error* Call(Args* arguments) {
  return Guarded([arguments] { Implement(arguments); });
}

#define CALL(function) \
  [[maybe_unused]] PJRT_Error* Slot_##function(function##_Args* a) { return Call(a); }
#define REFUSE(function)                                          \
  PJRT_Error* Slot_##function(void*) {                            \
    return NewError(PJRT_Error_Code_UNIMPLEMENTED,                \
                    "ascend: " #function " is not implemented");  \
  }
PJRT_SLOTS(CALL, REFUSE)
#undef CALL
#undef REFUSE

void DestroyError(PJRT_Error_Destroy_Args* a) { Implement(a); }
void MessageOfError(PJRT_Error_Message_Args* a) { Implement(a); }

constexpr size_t kSlots = [] {
  size_t count = 0;
#define COUNT(function) count++;
  PJRT_SLOTS(COUNT, COUNT)
#undef COUNT
  return count;
}();

struct Table {
  PJRT_HEAD;
  PJRT_Api_Version version;
  void* functions[kSlots];
};

}  // namespace
}  // namespace ascend

extern "C" __attribute__((visibility("default"))) const PJRT_Api* GetPjrtApi() {
  using namespace ascend;
  static Table table = [] {
    Table t{};
    t.struct_size = sizeof t;
    t.extension_start = FfiExtension();
    t.version = {sizeof t.version, nullptr, PJRT_API_MAJOR, PJRT_API_MINOR};
    size_t slot = 0;
#define FILL(function) t.functions[slot++] = reinterpret_cast<void*>(Slot_##function);
    PJRT_SLOTS(FILL, FILL)
#undef FILL
    // These two return nothing.
    t.functions[0] = reinterpret_cast<void*>(DestroyError);
    t.functions[1] = reinterpret_cast<void*>(MessageOfError);
    return t;
  }();
  return reinterpret_cast<const PJRT_Api*>(&table);
}

// Says which version of StableHLO programs may come in: the caller's own, that its parser reads.
extern "C" __attribute__((visibility("default"))) void ascend_set_stablehlo_version(int64_t major,
                                                                                   int64_t minor,
                                                                                   int64_t patch) {
  ascend::stablehlo_version[0] = major;
  ascend::stablehlo_version[1] = minor;
  ascend::stablehlo_version[2] = patch;
}
