#include "ffi.h"

#include <atomic>
#include <map>
#include <mutex>

#include "api.h"
#include "failure.h"

namespace ascend {
namespace {

std::mutex mutex;
std::map<std::string, void*>& Handlers() {
  static auto* handlers = new std::map<std::string, void*>;
  return *handlers;
}

PJRT_Error* RegisterType(PJRT_FFI_Type_Register_Args* a) {
  static std::atomic<int64_t> next{1};
  if (a->type_id == 0) a->type_id = next++;
  return nullptr;
}

PJRT_Error* AddUserData(PJRT_FFI_UserData_Add_Args*) {
  return NewError(PJRT_Error_Code_UNIMPLEMENTED,
                  "ascend: custom calls get no user data of an execution context");
}

PJRT_Error* RegisterHandler(PJRT_FFI_Register_Handler_Args* a) {
  return Guarded([a] {
    std::lock_guard<std::mutex> lock(mutex);
    Handlers()[std::string(a->target_name, a->target_name_size)] = a->handler;
  });
}

PJRT_FFI_Extension extension = {
    {sizeof(PJRT_FFI_Extension), PJRT_Extension_Type_FFI, nullptr},
    RegisterType,
    AddUserData,
    RegisterHandler};

}  // namespace

PJRT_Extension_Base* FfiExtension() { return &extension.base; }

void* FfiHandler(const std::string& target) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = Handlers().find(target);
  return found == Handlers().end() ? nullptr : found->second;
}

}  // namespace ascend
