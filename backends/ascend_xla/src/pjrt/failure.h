// Failures as C++ exceptions inside, as PJRT errors at the border.
#pragma once
#include <exception>
#include <new>
#include <string>

#include "abi.h"

namespace ascend {

struct Failure : std::exception {
  PJRT_Error_Code code;
  std::string message;
  Failure(PJRT_Error_Code c, std::string m) : code(c), message(std::move(m)) {}
  const char* what() const noexcept override { return message.c_str(); }
};

inline Failure InvalidArgument(std::string m) {
  return Failure(PJRT_Error_Code_INVALID_ARGUMENT, std::move(m));
}
inline Failure Internal(std::string m) {
  return Failure(PJRT_Error_Code_INTERNAL, std::move(m));
}

// Makes the error object that the caller destroys.
PJRT_Error* NewError(PJRT_Error_Code code, const std::string& message);

// Runs a function; what it throws becomes an error.
template <typename Function>
PJRT_Error* Guarded(Function&& function) noexcept {
  try {
    function();
    return nullptr;
  } catch (const Failure& failure) {
    return NewError(failure.code, failure.message);
  } catch (const std::bad_alloc&) {
    return NewError(PJRT_Error_Code_RESOURCE_EXHAUSTED, "ascend: the host is out of memory");
  } catch (const std::exception& error) {
    return NewError(PJRT_Error_Code_INTERNAL, std::string("ascend: ") + error.what());
  }
}

}  // namespace ascend
