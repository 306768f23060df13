// Runs a program on a driver whose memory the host does not read.
#pragma once
#include "../hal/driver.h"
#include "program.h"

namespace ascend {

// Each step is an operator of the driver's library, else a segment on the host between copies.
void Offload(const Program& program, Driver& driver, int device,
             const std::vector<char*>& arguments, const std::vector<bool>& on_host,
             const std::vector<char*>& outputs, char* arena, Gang* gang, int64_t member);

}  // namespace ascend
