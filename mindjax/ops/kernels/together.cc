// Gives its operands back when all of them are there. Nothing is computed or moved: every result is
// its operand's own buffer.

#include "call.h"

KERNEL(together, [](const XLA_FFI_CallFrame*) -> const char* { return nullptr; })
