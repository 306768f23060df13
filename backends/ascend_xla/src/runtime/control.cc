// Steps that run other steps: loops, branches, sorting, functions of Python.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "../pjrt/python.h"
#include "map.h"
#include "odometer.h"
#include "program.h"

namespace ascend {
namespace {

// Copies values to others; a source that is also a target is read before it is overwritten.
void Assign(const std::vector<int>& to, const std::vector<int>& from, Frame& frame) {
  std::vector<std::pair<int, std::vector<char>>> kept;
  for (size_t i = 0; i < to.size(); i++) {
    const char* source = frame.data[from[i]];
    const size_t bytes = frame.value(to[i]).bytes;
    if (source == frame.data[to[i]]) continue;
    bool overwritten = false;
    for (size_t j = 0; j < i; j++) overwritten |= frame.data[to[j]] == source;
    if (overwritten) kept.push_back({static_cast<int>(i), {source, source + bytes}});
  }
  size_t next = 0;
  for (size_t i = 0; i < to.size(); i++) {
    const size_t bytes = frame.value(to[i]).bytes;
    const char* source = frame.data[from[i]];
    if (next < kept.size() && kept[next].first == static_cast<int>(i))
      source = kept[next++].second.data();
    if (source != frame.data[to[i]]) std::memcpy(frame.data[to[i]], source, bytes);
  }
}

// The outputs are the parameters of both regions, condition and body.
void RunWhile(const Step& step, Frame& frame) {
  const Region &condition = step.regions[0], &body = step.regions[1];
  Assign(step.outputs, step.inputs, frame);
  for (;;) {
    Run(condition, frame);
    if (!*frame.data[condition.results[0]]) return;
    Run(body, frame);
    Assign(step.outputs, body.results, frame);
  }
}

// The input is a number of a branch, or a truth value whose first branch is the true one.
void RunCase(const Step& step, Frame& frame) {
  const int64_t last = static_cast<int64_t>(step.regions.size()) - 1;
  int64_t branch;
  if (frame.value(step.inputs[0]).type == PJRT_Buffer_Type_PRED) {
    branch = *frame.data[step.inputs[0]] ? 0 : 1;
  } else {
    branch = *reinterpret_cast<const int32_t*>(frame.data[step.inputs[0]]);
    if (branch < 0 || branch > last) branch = last;
  }
  Run(step.regions[branch], frame);
  Assign(step.outputs, step.regions[branch].results, frame);
}

// What a call of CANN's operators would do, in steps of the host.
void RunInstead(const Step& step, Frame& frame) { Run(step.regions[0], frame); }

struct Sort {
  ScalarCode code;
  int64_t outer, length, inner;
  explicit Sort(Numbers in) : code(in) {
    outer = in.Next();
    length = in.Next();
    inner = in.Next();
  }
};

std::shared_ptr<void> PrepareSort(const Step& step, const Program&) {
  return std::make_shared<Sort>(Numbers(step.ints));
}

// The comparator takes a pair of elements of each array.
void RunSort(const Step& step, Frame& frame) {
  const Sort& sort = *static_cast<const Sort*>(step.prepared.get());
  const size_t arrays = step.inputs.size();
  const ScalarCode& code = sort.code;
  std::vector<char> registers(code.registers * 8 + 8);
  std::vector<char*> slots(code.inputs + code.registers + 1);
  for (int r = 0; r < code.registers; r++) slots[code.inputs + r] = registers.data() + 8 * r;
  slots.back() = registers.data() + 8 * code.registers;
  code.FillConstants(slots.data(), 1);
  std::vector<size_t> element(arrays);
  std::vector<std::vector<char>> line(arrays);
  for (size_t k = 0; k < arrays; k++) {
    element[k] = TypeBytes(frame.value(step.inputs[k]).type);
    line[k].resize(sort.length * element[k]);
  }
  std::vector<int64_t> order(sort.length);
  for (int64_t o = 0; o < sort.outer; o++)
    for (int64_t i = 0; i < sort.inner; i++) {
      const int64_t base = o * sort.length * sort.inner + i;
      for (size_t k = 0; k < arrays; k++)
        for (int64_t j = 0; j < sort.length; j++)
          std::memcpy(line[k].data() + j * element[k],
                      frame.data[step.inputs[k]] + (base + j * sort.inner) * element[k],
                      element[k]);
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        for (size_t k = 0; k < arrays; k++) {
          slots[2 * k] = line[k].data() + a * element[k];
          slots[2 * k + 1] = line[k].data() + b * element[k];
        }
        code.Run(slots.data(), 1);
        return *slots.back() != 0;
      });
      for (size_t k = 0; k < arrays; k++)
        for (int64_t j = 0; j < sort.length; j++)
          std::memcpy(frame.data[step.outputs[k]] + (base + j * sort.inner) * element[k],
                      line[k].data() + order[j] * element[k], element[k]);
    }
}

void RunCallback(const Step& step, Frame& frame) {
  std::vector<char*> inputs, outputs;
  for (int id : step.inputs) inputs.push_back(frame.data[id]);
  for (int id : step.outputs) outputs.push_back(frame.data[id]);
  CallPython(step.ints.at(0), inputs, outputs);
}

// The text is a kernel of the vendor's compiler.
void RunHivm(const Step& step, Frame& frame) {
  std::vector<char*> inputs, outputs;
  for (int id : step.inputs) inputs.push_back(frame.data[id]);
  for (int id : step.outputs) outputs.push_back(frame.data[id]);
  Simulate(step.text, inputs, outputs);
}

const Registration loop("while", RunWhile);
const Registration branch("case", RunCase);
const Registration instead("instead", RunInstead);
const Registration sort("sort", RunSort, PrepareSort);
const Registration callback("callback", RunCallback);
const Registration hivm("hivm", RunHivm);

}  // namespace
}  // namespace ascend
