// The extension that hands handlers of custom calls over to the plugin.
#pragma once
#include <string>

#include "abi.h"

namespace ascend {

PJRT_Extension_Base* FfiExtension();

// The handler of a custom call's target, null where none is registered.
void* FfiHandler(const std::string& target);

}  // namespace ascend
