// Calls of operators of CANN's library, as the compiler writes them (mindjax_ascend/compiler/cann.py).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace ascend {

// An argument. In the text arguments stand behind the operator's name, with blanks between:
//   t2                  the step's array 2 (inputs first, then outputs), whole
//   t2:4,3/1,4+5@0      seen with these lengths, strides and first element, in this aclFormat
//   x2                  the same, and elements that the operator does not write stay as they are
//   w0:4,3=11           an array for this step alone, number 0, of this PJRT_Buffer_Type
//   l1                  a list of the one array 1
//   s2.5=11             a scalar of this PJRT_Buffer_Type
//   i7 d0.5 I1,2 B1,0 cBSND n     int, double, ints, bools, text, nothing
// Strides are row-major where they are left out.
struct Argument {
  char kind;
  int64_t number = 0;  // of the array, or the int
  int type = -1;       // PJRT_Buffer_Type of scalars and of arrays for the step alone
  double real = 0;
  std::string text;
  bool viewed = false;
  std::vector<int64_t> list, strides;  // the ints or bools, or lengths and strides
  int64_t offset = 0;
  int format = 2;  // aclFormat: ND
};

struct OperatorCall {
  std::string name;
  std::vector<Argument> arguments;
};

// Reads calls, one a line; throws INVALID_ARGUMENT for other texts, and for arrays beyond `arrays`.
std::vector<OperatorCall> ReadCalls(const std::string& text, size_t arrays);

}  // namespace ascend
