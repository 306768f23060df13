// One overload of `Implement` for each implemented function, told apart by its arguments.
#pragma once
#include "abi.h"
#include "slots.h"

namespace ascend {

#define DECLARE(function) void Implement(function##_Args* arguments);
#define NOTHING(function)
PJRT_SLOTS(DECLARE, NOTHING)
#undef DECLARE
#undef NOTHING

}  // namespace ascend
