// Starts executions: at once where they are short, else in the device's stream.
#pragma once
#include "executable.h"

namespace ascend {

void Execute(PJRT_LoadedExecutable_Execute_Args* arguments);

}  // namespace ascend
