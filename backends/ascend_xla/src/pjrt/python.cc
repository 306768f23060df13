#include "python.h"

#include <atomic>

#include "failure.h"

namespace {

// Python answers by calling `ascend_reply` with the first argument that it was given.
typedef int (*Ask)(void* reply, int64_t question, int64_t handle, const char* first,
                   size_t first_size, const char* second, size_t second_size, void* const* inputs,
                   size_t input_count, void* const* outputs, size_t output_count);
std::atomic<Ask> ask{nullptr};

enum Question : int64_t { kCompile, kLoad, kFree, kRun, kDescribe, kCallback, kHold, kForget,
                         kSimulate };

std::string Answer(Question question, int64_t handle, const std::string& first,
                   const std::string& second, const std::vector<char*>& inputs = {},
                   const std::vector<char*>& outputs = {}) {
  const Ask function = ask;
  if (!function)
    throw ascend::Failure(PJRT_Error_Code_FAILED_PRECONDITION,
                          "ascend: mindjax_ascend.plugin.register() has not run in this process");
  std::string reply;
  const int code = function(&reply, question, handle, first.data(), first.size(), second.data(),
                       second.size(), reinterpret_cast<void* const*>(inputs.data()), inputs.size(),
                       reinterpret_cast<void* const*>(outputs.data()), outputs.size());
  if (code) throw ascend::Failure(static_cast<PJRT_Error_Code>(code), reply);
  return reply;
}

}  // namespace

extern "C" {
__attribute__((visibility("default"))) void ascend_set_python(Ask function) { ask = function; }
__attribute__((visibility("default"))) void ascend_reply(void* reply, const char* data,
                                                         size_t size) {
  static_cast<std::string*>(reply)->assign(data, size);
}
}

namespace ascend {

std::string CompileInPython(const std::string& code, const std::string& format,
                            const std::string& options) {
  if (format != "mlir")
    throw Failure(PJRT_Error_Code_UNIMPLEMENTED,
                  "ascend: programs come as 'mlir', not as '" + format + "'");
  return Answer(kCompile, 0, code, options);
}
int64_t LoadDelegate(const std::string& source, const std::string& options) {
  return std::stoll(Answer(kLoad, 0, source, options));
}
// At the end of a process Python may be gone, and what is to be freed with it.
static void Tell(Question question, int64_t handle) noexcept {
  try {
    Answer(question, handle, "", "");
  } catch (const std::exception&) {
  }
}
void FreeDelegate(int64_t handle) noexcept { Tell(kFree, handle); }
void HoldFunction(int64_t id) { Answer(kHold, id, "", ""); }
void ForgetFunction(int64_t id) noexcept { Tell(kForget, id); }
void RunDelegate(int64_t handle, int devices, const std::vector<char*>& arguments,
                 const std::vector<char*>& outputs) {
  Answer(kRun, handle, std::to_string(devices), "", arguments, outputs);
}
std::string DescribeInPython(const std::string& source, const std::string& options,
                             int64_t delegate) {
  return Answer(kDescribe, delegate, source, options);
}
void CallPython(int64_t id, const std::vector<char*>& inputs, const std::vector<char*>& outputs) {
  Answer(kCallback, id, "", "", inputs, outputs);
}
void Simulate(const std::string& hivm, const std::vector<char*>& inputs,
              const std::vector<char*>& outputs) {
  Answer(kSimulate, 0, hivm, "", inputs, outputs);
}

}  // namespace ascend
