// Sizes of element types.
#pragma once
#include <vector>

#include "abi.h"

namespace ascend {

inline size_t TypeBytes(int type) {
  switch (type) {
    case PJRT_Buffer_Type_TOKEN:
      return 0;
    case PJRT_Buffer_Type_S16:
    case PJRT_Buffer_Type_U16:
    case PJRT_Buffer_Type_F16:
    case PJRT_Buffer_Type_BF16:
      return 2;
    case PJRT_Buffer_Type_S32:
    case PJRT_Buffer_Type_U32:
    case PJRT_Buffer_Type_F32:
      return 4;
    case PJRT_Buffer_Type_S64:
    case PJRT_Buffer_Type_U64:
    case PJRT_Buffer_Type_F64:
    case PJRT_Buffer_Type_C64:
      return 8;
    case PJRT_Buffer_Type_C128:
      return 16;
    default:
      // Types of fewer than eight bits take a byte an element.
      return 1;
  }
}

inline int64_t Elements(const std::vector<int64_t>& dims) {
  int64_t count = 1;
  for (int64_t d : dims) count *= d;
  return count;
}

inline size_t Bytes(int type, const std::vector<int64_t>& dims) {
  return TypeBytes(type) * static_cast<size_t>(Elements(dims));
}

}  // namespace ascend
