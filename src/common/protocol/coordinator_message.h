// The messages that a coordinator sends to a worker, as one variant. Either side may send an error
// and close.
#pragma once

#include <string>
#include <variant>

#include "common/protocol/hello.h"
#include "common/protocol/leases.h"
#include "common/protocol/results.h"

namespace weft::protocol {

struct ErrorMessage {
  std::string code{};
  std::string message{};
};

using CoordinatorMessage = std::variant<Challenge, Welcome, Lease, Verdict, Cancel, OpenChunks,
                                        Yield, ErrorMessage, OpenStates>;

}  // namespace weft::protocol
