// A compiled program: values, and steps that compute them. Written by mindjax_ascend/program.py.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "../hal/call.h"
#include "../pjrt/types.h"

namespace ascend {

class Gang;
struct Program;
struct Step;
struct Frame;
typedef void (*Kernel)(const Step& step, Frame& frame);
// Reads a step's numbers once, when the program is loaded.
typedef std::shared_ptr<void> (*Prepare)(const Step& step, const Program& program);

enum class Place : int64_t { kArgument = 0, kConstant = 1, kArena = 2, kOutput = 3 };

struct Value {
  int type;
  std::vector<int64_t> dims;
  Place place;
  int64_t index;  // of the argument or output, or the offset in constants or arena
  int64_t elements;
  size_t bytes;
};

struct Region {
  std::vector<int> parameters, results;
  std::vector<Step> steps;
};

struct Step {
  std::string op;
  Kernel kernel;
  int number;  // in the program's own counting, for the report
  std::vector<int> inputs, outputs;
  std::vector<int64_t> ints;
  std::string text;
  std::vector<OperatorCall> calls;  // of CANN's operators that do the same, in order; may be none
  std::vector<Region> regions;
  std::shared_ptr<void> prepared;
};

struct Program {
  std::string name, options, source, assignment;
  int64_t replicas, partitions;
  std::vector<int64_t> device_ids, donated, functions;  // functions of Python, by number
  std::vector<int> output_types, parameter_types;
  std::vector<int64_t> output_memories;  // 0 for the device's own, 1 for the host's
  std::vector<std::vector<int64_t>> output_dims, parameter_dims;
  std::string delegated;  // why the delegate runs it; empty if steps do
  std::vector<Value> values;
  std::string constants;
  int64_t arena = 0;
  int64_t cost = 0;  // in about nanoseconds
  Region body;
  std::string bytes;  // what it was read from
  int steps = 0;
};

// Reads a program; throws INVALID_ARGUMENT where the bytes are none of this version.
std::shared_ptr<Program> ReadProgram(std::string bytes);

// Addresses of a running program's values.
struct Frame {
  const Program& program;
  std::vector<char*> data;
  Gang* gang = nullptr;  // of a program on several devices
  int64_t member = 0;    // this device's place among them
  const Value& value(int id) const { return program.values[id]; }
};

// Runs a program's steps on memory that the host reads.
void Run(const Region& region, Frame& frame);
void RunProgram(const Program& program, const std::vector<char*>& arguments,
                const std::vector<char*>& outputs, char* arena, Gang* gang = nullptr,
                int64_t member = 0);

// Finds a step's kernel and prepares it; throws UNIMPLEMENTED where there is none.
void Bind(Step& step, const Program& program);

// Adds a kernel to the table when the library is loaded.
struct Registration {
  Registration(const char* op, Kernel kernel, Prepare prepare = nullptr);
};

// Reads a step's numbers one after another.
class Numbers {
 public:
  explicit Numbers(const std::vector<int64_t>& ints) : ints_(ints) {}
  int64_t Next() { return ints_.at(at_++); }
  std::vector<int64_t> List(size_t count) {
    std::vector<int64_t> list(count);
    for (int64_t& item : list) item = Next();
    return list;
  }
  // A list that begins with its length.
  std::vector<int64_t> Counted() { return List(Next()); }

 private:
  const std::vector<int64_t>& ints_;
  size_t at_ = 0;
};

}  // namespace ascend
