// The message with which a call refuses its input, for tests that check what it says.
#pragma once

#include <string>

#include "fuselage/core/error.h"

namespace fuselage {

template <class Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace fuselage
