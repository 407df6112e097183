#include "common/base/result.h"

#include <array>

namespace weft {
namespace {

constexpr std::array<std::string_view, 15> words = {
    "invalid_argument",   "not_found",         "already_exists",
    "unauthenticated",    "permission_denied", "insufficient_funds",
    "resource_exhausted", "out_of_memory",     "deadline_exceeded",
    "cancelled",          "unavailable",       "device_lost",
    "data_loss",          "unsupported",       "internal"};

}  // namespace

std::string_view to_string(ErrorCode code) { return words[static_cast<std::size_t>(code)]; }

ErrorCode error_code_from(std::string_view word) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == word) return static_cast<ErrorCode>(i);
  }
  return ErrorCode::internal;
}

}  // namespace weft
