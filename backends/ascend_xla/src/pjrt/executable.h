// Compiled programs as PJRT knows them.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "../runtime/program.h"
#include "client.h"

namespace ascend {

// What both kinds of executable share.
struct Compiled {
  std::shared_ptr<Program> program;
  int64_t delegate = -1;  // the handle that Python knows a delegated program by
  std::string fingerprint;
  std::vector<int64_t> held;  // functions of Python
  std::vector<int64_t> flat_dims;
  std::vector<size_t> ranks;
  std::vector<PJRT_Buffer_Type> types;
  std::vector<const char*> output_kinds, parameter_kinds;
  std::vector<size_t> output_kind_sizes, parameter_kind_sizes;
  std::mutex mutex;
  std::string optimized;  // HloModuleProtoWithConfig, made when first asked for
  explicit Compiled(std::string bytes);
  ~Compiled();
};

}  // namespace ascend

struct PJRT_Executable {
  std::shared_ptr<ascend::Compiled> compiled;
};

struct PJRT_LoadedExecutable {
  std::shared_ptr<ascend::Compiled> compiled;
  PJRT_Client* client;
  std::vector<PJRT_Device*> devices;
  std::vector<PJRT_LogicalDeviceIds> logical;
  std::atomic<bool> deleted{false};
};
