#include "call.h"

#include <cstdlib>
#include <sstream>

#include "../pjrt/failure.h"

namespace ascend {
namespace {

[[noreturn]] void Refuse(const std::string& token) {
  throw InvalidArgument("ascend: '" + token + "' is no argument of an operator of CANN");
}

// Walks over one argument's text.
class Text {
 public:
  explicit Text(const std::string& token) : token_(token) {}
  bool Take(char c) {
    if (at_ < token_.size() && token_[at_] == c) {
      at_++;
      return true;
    }
    return false;
  }
  int64_t Int() {
    char* end = nullptr;
    const int64_t value = std::strtoll(token_.c_str() + at_, &end, 10);
    Advance(end);
    return value;
  }
  double Real() {
    char* end = nullptr;
    const double value = std::strtod(token_.c_str() + at_, &end);
    Advance(end);
    return value;
  }
  // Numbers with commas between; none where another character or the end follows.
  std::vector<int64_t> Ints() {
    std::vector<int64_t> list;
    if (at_ == token_.size() || !(std::isdigit(token_[at_]) || token_[at_] == '-')) return list;
    do list.push_back(Int());
    while (Take(','));
    return list;
  }
  std::string Rest() {
    std::string rest = token_.substr(at_);
    at_ = token_.size();
    return rest;
  }
  void End() const {
    if (at_ != token_.size()) Refuse(token_);
  }

 private:
  void Advance(const char* end) {
    const size_t to = end - token_.c_str();
    if (to <= at_) Refuse(token_);
    at_ = to;
  }
  const std::string& token_;
  size_t at_ = 0;
};

Argument ReadArgument(const std::string& token, size_t arrays) {
  Text text(token);
  Argument made;
  made.kind = token[0];
  text.Take(token[0]);
  switch (made.kind) {
    case 't':
    case 'x':
    case 'w':
    case 'l':
      made.number = text.Int();
      if (made.number < 0 || (made.kind != 'w' && static_cast<size_t>(made.number) >= arrays))
        Refuse(token);
      if (text.Take(':')) {
        made.viewed = true;
        made.list = text.Ints();
        if (text.Take('/')) {
          made.strides = text.Ints();
          if (made.strides.size() != made.list.size()) Refuse(token);
        }
        if (text.Take('+')) made.offset = text.Int();
        if (text.Take('@')) made.format = static_cast<int>(text.Int());
      }
      if (made.viewed && made.strides.empty()) {
        made.strides.assign(made.list.size(), 1);
        for (size_t i = made.list.size(); i-- > 1;)
          made.strides[i - 1] = made.strides[i] * made.list[i];
      }
      if (text.Take('=')) made.type = static_cast<int>(text.Int());
      break;
    case 's':
      made.real = text.Real();
      if (!text.Take('=')) Refuse(token);
      made.type = static_cast<int>(text.Int());
      break;
    case 'i':
      made.number = text.Int();
      break;
    case 'd':
      made.real = text.Real();
      break;
    case 'I':
    case 'B':
      made.list = text.Ints();
      break;
    case 'c':
      made.text = text.Rest();
      break;
    case 'n':
      break;
    default:
      Refuse(token);
  }
  text.End();
  return made;
}

}  // namespace

std::vector<OperatorCall> ReadCalls(const std::string& text, size_t arrays) {
  std::vector<OperatorCall> calls;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    OperatorCall call;
    words >> call.name;
    for (std::string token; words >> token;)
      call.arguments.push_back(ReadArgument(token, arrays));
    calls.push_back(std::move(call));
  }
  return calls;
}

}  // namespace ascend
