#include "map.h"

#include <algorithm>
#include <cstring>

#include "../pjrt/failure.h"
#include "odometer.h"
#include "parallel.h"

namespace ascend {

ScalarCode::ScalarCode(Numbers& in) {
  inputs = static_cast<int>(in.Next());
  registers = static_cast<int>(in.Next());
  outputs = static_cast<int>(in.Next());
  const int slots = inputs + registers + outputs;
  constants.resize(in.Next());
  for (Constant& constant : constants) {
    constant.slot = static_cast<int>(in.Next());
    constant.element = TypeBytes(static_cast<int>(in.Next()));
    constant.bits = in.Next();
    if (constant.slot < inputs || constant.slot >= inputs + registers)
      throw InvalidArgument("ascend: a constant is outside its scalar program");
  }
  instructions.resize(in.Next());
  for (Instruction& i : instructions) {
    i.op = static_cast<MapOp>(in.Next());
    i.type = static_cast<int>(in.Next());
    i.function = FindMapFunction(i.op, i.type, static_cast<int>(in.Next()));
    i.to = static_cast<int>(in.Next());
    i.a = static_cast<int>(in.Next());
    i.b = static_cast<int>(in.Next());
    i.c = static_cast<int>(in.Next());
    if (!i.function) throw Internal("ascend: a step names a scalar operator that is not there");
    if (i.to < inputs || std::max({i.to, i.a, i.b, i.c}) >= slots)
      throw InvalidArgument("ascend: a scalar operator writes outside its program");
  }
}

void ScalarCode::FillConstants(char* const* slots, int64_t n) const {
  for (const Constant& constant : constants)
    for (int64_t i = 0; i < n; i++)
      std::memcpy(slots[constant.slot] + i * constant.element, &constant.bits, constant.element);
}

MapOp ScalarCode::single() const {
  if (instructions.size() != 1 || inputs != 2) return MapOp::kCount;
  const Instruction& i = instructions[0];
  return i.c < 0 && ((i.a == 0 && i.b == 1) || (i.a == 1 && i.b == 0)) ? i.op : MapOp::kCount;
}

char* Scratch(size_t bytes, int level) {
  thread_local std::vector<char> scratch[4];
  std::vector<char>& own = scratch[level];
  if (own.size() < bytes + 64) own.resize(bytes + 64);
  return own.data() + (64 - reinterpret_cast<uintptr_t>(own.data()) % 64) % 64;
}

namespace {

enum Mode : int64_t { kContiguous = 0, kScalar = 1, kStrided = 2 };

struct Map {
  struct Input {
    Mode mode;
    std::vector<int64_t> strides;
    size_t element;
  };
  ScalarCode code;
  std::vector<int64_t> dims;
  std::vector<Input> inputs;
  std::vector<size_t> output_elements;
  int64_t count;
  Map(Numbers in, const Step& step, const Program& program) : code(in) {
    dims = in.Counted();
    count = Elements(dims);
    for (int id : step.inputs) {
      Input input;
      input.mode = static_cast<Mode>(in.Next());
      if (input.mode == kStrided) input.strides = in.List(dims.size());
      input.element = TypeBytes(program.values[id].type);
      inputs.push_back(input);
    }
    for (int id : step.outputs) output_elements.push_back(TypeBytes(program.values[id].type));
  }
};

template <typename T>
void Gather(char* to_bytes, const char* from_bytes, const std::vector<int64_t>& dims,
            const std::vector<int64_t>& strides, int64_t begin, int64_t n) {
  T* to = reinterpret_cast<T*>(to_bytes);
  const T* from = reinterpret_cast<const T*>(from_bytes);
  const size_t last = dims.size() - 1;
  const int64_t inner = dims[last], stride = strides[last];
  std::vector<int64_t> outer(dims.begin(), dims.end() - 1);
  const std::vector<int64_t> outer_strides[1] = {
      std::vector<int64_t>(strides.begin(), strides.end() - 1)};
  Odometer<1> at(outer, outer_strides);
  at.Seek(begin / inner);
  int64_t column = begin % inner;
  while (n > 0) {
    const int64_t run = std::min(n, inner - column);
    const T* source = from + at.offset[0] + column * stride;
    if (stride == 0)
      std::fill(to, to + run, *source);
    else
      for (int64_t i = 0; i < run; i++) to[i] = source[i * stride];
    to += run;
    n -= run;
    column = 0;
    at.Next();
  }
}

void GatherBytes(char* to, const char* from, const Map& map, const Map::Input& input,
                 int64_t begin, int64_t n) {
  switch (input.element) {
    case 1: return Gather<uint8_t>(to, from, map.dims, input.strides, begin, n);
    case 2: return Gather<uint16_t>(to, from, map.dims, input.strides, begin, n);
    case 4: return Gather<uint32_t>(to, from, map.dims, input.strides, begin, n);
    default: return Gather<uint64_t>(to, from, map.dims, input.strides, begin, n);
  }
}

void FillBytes(char* to, const char* from, size_t element, int64_t n) {
  for (int64_t i = 0; i < n; i++) std::memcpy(to + i * element, from, element);
}

void RunMap(const Step& step, Frame& frame) {
  const Map& map = *static_cast<const Map*>(step.prepared.get());
  const ScalarCode& code = map.code;
  const int slots = code.inputs + code.registers + code.outputs;
  const int64_t block = std::min(kBlock, map.count);
  ParallelFor(map.count, 32768, [&](int64_t begin, int64_t end) {
    char* scratch = Scratch(static_cast<size_t>(code.inputs + code.registers) * block * 8);
    char* address_room[64];
    std::vector<char*> address_list;
    char** addresses = address_room;
    if (slots > 64) {
      address_list.resize(slots);
      addresses = address_list.data();
    }
    for (int i = 0; i < code.inputs + code.registers; i++) addresses[i] = scratch + i * block * 8;
    for (int i = 0; i < code.inputs; i++)
      if (map.inputs[i].mode == kScalar)
        FillBytes(addresses[i], frame.data[step.inputs[i]], map.inputs[i].element, block);
    code.FillConstants(addresses, block);
    for (int64_t at = begin; at < end; at += block) {
      const int64_t n = std::min(block, end - at);
      for (int i = 0; i < code.inputs; i++) {
        const Map::Input& input = map.inputs[i];
        char* data = frame.data[step.inputs[i]];
        if (input.mode == kContiguous)
          addresses[i] = data + at * input.element;
        else if (input.mode == kStrided)
          GatherBytes(addresses[i], data, map, input, at, n);
      }
      for (int i = 0; i < code.outputs; i++)
        addresses[code.inputs + code.registers + i] =
            frame.data[step.outputs[i]] + at * map.output_elements[i];
      code.Run(addresses, n);
    }
  });
}

std::shared_ptr<void> PrepareMap(const Step& step, const Program& program) {
  return std::make_shared<Map>(Numbers(step.ints), step, program);
}

const Registration map_step("map", RunMap, PrepareMap);

}  // namespace
}  // namespace ascend
