// What the package's Python side does for the plugin: compiling, and running what is delegated.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace ascend {

// Compiles a program to the bytes that ReadProgram reads.
std::string CompileInPython(const std::string& code, const std::string& format,
                            const std::string& options);
// Prepares a delegated program; returns its handle.
int64_t LoadDelegate(const std::string& source, const std::string& options);
void FreeDelegate(int64_t handle) noexcept;
// Runs a delegated program over all its devices, on memory that the host reads.
void RunDelegate(int64_t handle, int devices, const std::vector<char*>& arguments,
                 const std::vector<char*>& outputs);
// The program as XLA's HloModuleProtoWithConfig.
std::string DescribeInPython(const std::string& source, const std::string& options,
                             int64_t delegate);
// Keeps a Python function of a program, until it is forgotten as often.
void HoldFunction(int64_t id);
void ForgetFunction(int64_t id) noexcept;
// Calls a Python function of the program.
void CallPython(int64_t id, const std::vector<char*>& inputs, const std::vector<char*>& outputs);
// Runs a kernel of the vendor's compiler in the simulator of its output.
void Simulate(const std::string& hivm, const std::vector<char*>& inputs,
              const std::vector<char*>& outputs);

}  // namespace ascend
