#include "program.h"

#include <cstring>
#include <map>

#include "../pjrt/failure.h"

namespace ascend {
namespace {

constexpr char kMagic[] = "MJASCEND2";

class Reader {
 public:
  Reader(const std::string& bytes, int* steps) : bytes_(bytes), steps_(steps) {}
  int64_t Int() {
    int64_t value;
    std::memcpy(&value, Take(sizeof value), sizeof value);
    return value;
  }
  size_t Count() {
    const int64_t count = Int();
    if (count < 0 || static_cast<size_t>(count) > bytes_.size()) Refuse();
    return count;
  }
  std::string Text() {
    const size_t size = Count();
    return std::string(Take(size), size);
  }
  template <typename T>
  std::vector<T> List() {
    std::vector<T> list(Count());
    for (T& item : list) item = static_cast<T>(Int());
    return list;
  }
  Region ReadRegion(const Program& program) {
    Region region;
    region.parameters = Ids(program);
    region.results = Ids(program);
    region.steps.resize(Count());
    for (Step& step : region.steps) {
      step.op = Text();
      step.number = (*steps_)++;
      step.inputs = Ids(program);
      step.outputs = Ids(program);
      step.ints = List<int64_t>();
      step.text = Text();
      step.calls = ReadCalls(Text(), step.inputs.size() + step.outputs.size());
      step.regions.resize(Count());
      for (Region& inner : step.regions) inner = ReadRegion(program);
      Bind(step, program);
    }
    return region;
  }
  bool done() const { return at_ == bytes_.size(); }
  [[noreturn]] static void Refuse() {
    throw InvalidArgument("ascend: these bytes are no program of this version of the plugin");
  }

 private:
  std::vector<int> Ids(const Program& program) {
    std::vector<int> ids = List<int>();
    for (int id : ids)
      if (id < 0 || static_cast<size_t>(id) >= program.values.size()) Refuse();
    return ids;
  }
  const char* Take(size_t size) {
    if (size > bytes_.size() - at_) Refuse();
    const char* data = bytes_.data() + at_;
    at_ += size;
    return data;
  }
  const std::string& bytes_;
  size_t at_ = 0;
  int* steps_;
};

std::map<std::string, std::pair<Kernel, Prepare>>& Kernels() {
  static auto* kernels = new std::map<std::string, std::pair<Kernel, Prepare>>;
  return *kernels;
}

}  // namespace

Registration::Registration(const char* op, Kernel kernel, Prepare prepare) {
  Kernels()[op] = {kernel, prepare};
}

void Bind(Step& step, const Program& program) {
  auto found = Kernels().find(step.op);
  if (found == Kernels().end())
    throw Failure(PJRT_Error_Code_UNIMPLEMENTED, "ascend: there is no kernel '" + step.op + "'");
  step.kernel = found->second.first;
  if (found->second.second) step.prepared = found->second.second(step, program);
}

std::shared_ptr<Program> ReadProgram(std::string bytes) {
  auto program = std::make_shared<Program>();
  program->bytes = std::move(bytes);
  Reader in(program->bytes, &program->steps);
  if (in.Text() != kMagic) Reader::Refuse();
  program->name = in.Text();
  program->source = in.Text();
  program->options = in.Text();
  program->assignment = in.Text();
  program->replicas = in.Int();
  program->partitions = in.Int();
  program->device_ids = in.List<int64_t>();
  program->donated = in.List<int64_t>();
  program->parameter_types = in.List<int>();
  for (size_t i = 0; i < program->parameter_types.size(); i++)
    program->parameter_dims.push_back(in.List<int64_t>());
  program->output_types = in.List<int>();
  for (size_t i = 0; i < program->output_types.size(); i++)
    program->output_dims.push_back(in.List<int64_t>());
  program->output_memories = in.List<int64_t>();
  if (program->output_memories.size() != program->output_types.size()) Reader::Refuse();
  for (int64_t memory : program->output_memories)
    if (memory != 0 && memory != 1) Reader::Refuse();
  program->functions = in.List<int64_t>();
  program->delegated = in.Text();
  if (program->delegated.empty()) {
    program->constants = in.Text();
    program->arena = in.Int();
    program->cost = in.Int();
    program->values.resize(in.Count());
    for (Value& value : program->values) {
      value.type = static_cast<int>(in.Int());
      value.dims = in.List<int64_t>();
      value.place = static_cast<Place>(in.Int());
      value.index = in.Int();
      value.elements = Elements(value.dims);
      value.bytes = Bytes(value.type, value.dims);
    }
    program->body = in.ReadRegion(*program);
  }
  if (!in.done()) Reader::Refuse();
  return program;
}

void Run(const Region& region, Frame& frame) {
  for (const Step& step : region.steps) step.kernel(step, frame);
}

void RunProgram(const Program& program, const std::vector<char*>& arguments,
                const std::vector<char*>& outputs, char* arena, Gang* gang, int64_t member) {
  Frame frame{program, {}, gang, member};
  frame.data.resize(program.values.size());
  for (size_t i = 0; i < program.values.size(); i++) {
    const Value& value = program.values[i];
    switch (value.place) {
      case Place::kArgument:
        frame.data[i] = arguments[value.index];
        break;
      case Place::kConstant:
        frame.data[i] = const_cast<char*>(program.constants.data()) + value.index;
        break;
      case Place::kArena:
        frame.data[i] = arena + value.index;
        break;
      case Place::kOutput:
        frame.data[i] = outputs[value.index];
        break;
    }
  }
  Run(program.body, frame);
}

}  // namespace ascend
