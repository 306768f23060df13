#include "executable.h"

#include <algorithm>
#include <functional>

#include "api.h"
#include "buffer.h"
#include "execute.h"
#include "failure.h"
#include "python.h"

namespace ascend {

Compiled::Compiled(std::string bytes) : program(ReadProgram(std::move(bytes))) {
  for (size_t i = 0; i < program->output_types.size(); i++) {
    types.push_back(static_cast<PJRT_Buffer_Type>(program->output_types[i]));
    const auto& dims = program->output_dims[i];
    flat_dims.insert(flat_dims.end(), dims.begin(), dims.end());
    ranks.push_back(dims.size());
  }
  for (int64_t memory : program->output_memories) {
    output_kinds.push_back(memory ? "pinned_host" : "device");
    output_kind_sizes.push_back(memory ? 11 : 6);
  }
  parameter_kinds.assign(program->parameter_types.size(), "device");
  parameter_kind_sizes.assign(program->parameter_types.size(), 6);
  fingerprint = std::to_string(std::hash<std::string>()(program->bytes));
  for (int64_t id : program->functions) {
    HoldFunction(id);
    held.push_back(id);
  }
  if (!program->delegated.empty()) delegate = LoadDelegate(program->source, program->options);
}

Compiled::~Compiled() {
  if (delegate >= 0) FreeDelegate(delegate);
  for (int64_t id : held) ForgetFunction(id);
}

namespace {

PJRT_LoadedExecutable* Load(PJRT_Client* client, std::string bytes) {
  auto loaded = std::make_unique<PJRT_LoadedExecutable>();
  loaded->compiled = std::make_shared<Compiled>(std::move(bytes));
  loaded->client = client;
  const Program& program = *loaded->compiled->program;
  int number = 0;
  for (int64_t id : program.device_ids) {
    loaded->devices.push_back(client->Find(static_cast<int>(id)));
    const int partitions = static_cast<int>(program.partitions);
    loaded->logical.push_back({number / partitions, number % partitions});
    number++;
  }
  return loaded.release();
}

std::string Text(const char* data, size_t size) { return data ? std::string(data, size) : ""; }

}  // namespace

void Implement(PJRT_Client_Compile_Args* a) {
  const PJRT_Program& program = *a->program;
  a->executable = Load(a->client, CompileInPython(Text(program.code, program.code_size),
                                                  Text(program.format, program.format_size),
                                                  Text(a->compile_options,
                                                       a->compile_options_size)));
}

struct Serialized {
  std::string bytes;
};

void Implement(PJRT_Executable_Serialize_Args* a) {
  const std::string& bytes = a->executable->compiled->program->bytes;
  auto* kept = new Serialized{bytes};
  a->serialized_bytes = kept->bytes.data();
  a->serialized_bytes_size = kept->bytes.size();
  a->serialized_executable = reinterpret_cast<PJRT_SerializedExecutable*>(kept);
  a->serialized_executable_deleter = [](PJRT_SerializedExecutable* serialized) {
    delete reinterpret_cast<Serialized*>(serialized);
  };
}
void Implement(PJRT_Executable_DeserializeAndLoad_Args* a) {
  a->loaded_executable =
      Load(a->client, Text(a->serialized_executable, a->serialized_executable_size));
}

void Implement(PJRT_LoadedExecutable_Destroy_Args* a) { delete a->executable; }
void Implement(PJRT_LoadedExecutable_GetExecutable_Args* a) {
  a->executable = new PJRT_Executable{a->loaded_executable->compiled};
}
void Implement(PJRT_LoadedExecutable_AddressableDevices_Args* a) {
  a->addressable_devices = a->executable->devices.data();
  a->num_addressable_devices = a->executable->devices.size();
}
void Implement(PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args* a) {
  a->addressable_device_logical_ids = a->executable->logical.data();
  a->num_addressable_device_logical_ids = a->executable->logical.size();
}
void Implement(PJRT_LoadedExecutable_GetDeviceAssignment_Args* a) {
  const std::string& bytes = a->executable->compiled->program->assignment;
  a->serialized_bytes = bytes.data();
  a->serialized_bytes_size = bytes.size();
  a->serialized_device_assignment = nullptr;
  a->serialized_device_assignment_deleter = [](PJRT_DeviceAssignmentSerialized*) {};
}
void Implement(PJRT_LoadedExecutable_Delete_Args* a) { a->executable->deleted = true; }
void Implement(PJRT_LoadedExecutable_IsDeleted_Args* a) {
  a->is_deleted = a->executable->deleted;
}
void Implement(PJRT_LoadedExecutable_Fingerprint_Args* a) {
  a->executable_fingerprint = a->executable->compiled->fingerprint.data();
  a->executable_fingerprint_size = a->executable->compiled->fingerprint.size();
}

void Implement(PJRT_Executable_Destroy_Args* a) { delete a->executable; }
void Implement(PJRT_Executable_Fingerprint_Args* a) {
  a->executable_fingerprint = a->executable->compiled->fingerprint.data();
  a->executable_fingerprint_size = a->executable->compiled->fingerprint.size();
}
void Implement(PJRT_Executable_Name_Args* a) {
  a->executable_name = a->executable->compiled->program->name.data();
  a->executable_name_size = a->executable->compiled->program->name.size();
}
void Implement(PJRT_Executable_NumReplicas_Args* a) {
  a->num_replicas = a->executable->compiled->program->replicas;
}
void Implement(PJRT_Executable_NumPartitions_Args* a) {
  a->num_partitions = a->executable->compiled->program->partitions;
}
void Implement(PJRT_Executable_NumOutputs_Args* a) {
  a->num_outputs = a->executable->compiled->types.size();
}
void Implement(PJRT_Executable_SizeOfGeneratedCodeInBytes_Args* a) {
  a->size_in_bytes = a->executable->compiled->program->bytes.size();
}
void Implement(PJRT_Executable_OutputElementTypes_Args* a) {
  a->output_types = a->executable->compiled->types.data();
  a->num_output_types = a->executable->compiled->types.size();
}
void Implement(PJRT_Executable_OutputDimensions_Args* a) {
  Compiled& compiled = *a->executable->compiled;
  a->num_outputs = compiled.ranks.size();
  a->dims = compiled.flat_dims.data();
  a->dim_sizes = compiled.ranks.data();
}
void Implement(PJRT_Executable_OutputMemoryKinds_Args* a) {
  Compiled& compiled = *a->executable->compiled;
  a->num_outputs = compiled.output_kinds.size();
  a->memory_kinds = compiled.output_kinds.data();
  a->memory_kind_sizes = compiled.output_kind_sizes.data();
}
void Implement(PJRT_Executable_ParameterMemoryKinds_Args* a) {
  Compiled& compiled = *a->executable->compiled;
  a->num_parameters = compiled.parameter_kinds.size();
  a->memory_kinds = compiled.parameter_kinds.data();
  a->memory_kind_sizes = compiled.parameter_kind_sizes.data();
}
void Implement(PJRT_Executable_GetCostAnalysis_Args* a) {
  a->num_properties = 0;
  a->properties = nullptr;
}
void Implement(PJRT_Executable_GetCompiledMemoryStats_Args* a) {
  const Program& program = *a->executable->compiled->program;
  int64_t arguments = 0, outputs = 0;
  for (size_t i = 0; i < program.parameter_types.size(); i++)
    arguments += Bytes(program.parameter_types[i], program.parameter_dims[i]);
  for (size_t i = 0; i < program.output_types.size(); i++)
    outputs += Bytes(program.output_types[i], program.output_dims[i]);
  a->generated_code_size_in_bytes = program.bytes.size();
  a->argument_size_in_bytes = arguments;
  a->output_size_in_bytes = outputs;
  a->alias_size_in_bytes = 0;
  a->temp_size_in_bytes = program.arena;
  a->host_generated_code_size_in_bytes = a->host_argument_size_in_bytes = 0;
  a->host_output_size_in_bytes = a->host_alias_size_in_bytes = a->host_temp_size_in_bytes = 0;
  if (a->struct_size >= offsetof(PJRT_Executable_GetCompiledMemoryStats_Args, total_size_in_bytes))
    a->peak_memory_in_bytes = arguments + outputs + program.arena;
}
void Implement(PJRT_Executable_OptimizedProgram_Args* a) {
  Compiled& compiled = *a->executable->compiled;
  std::lock_guard<std::mutex> lock(compiled.mutex);
  if (compiled.optimized.empty())
    compiled.optimized = DescribeInPython(compiled.program->source, compiled.program->options,
                                          compiled.delegate);
  a->program->format = "hlo_with_config";
  a->program->format_size = 15;
  if (a->program->code)
    std::copy(compiled.optimized.begin(), compiled.optimized.end(), a->program->code);
  else
    a->program->code_size = compiled.optimized.size();
}
void Implement(PJRT_LoadedExecutable_Execute_Args* a) { Execute(a); }

}  // namespace ascend
