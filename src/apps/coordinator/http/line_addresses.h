// Which lines of a worker the coordinator passes on to other members of its chains: a stranger
// names them, and others call what they name. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::coordinator {

// Off only in tests.
struct LineRules {
  bool addresses_are_checked = true;
};

// Passes on those of "tcp://HOST:PORT#..." whose host is the address that the worker comes from, a
// public one
// (`weft work --peer-address`), or one of a private network in which the worker is; of a worker on
// this machine also loopback and each private network. All others ("webrtc") as they are.
[[nodiscard]] std::vector<std::string> lines_to_pass_on(const std::vector<std::string>& lines,
                                                        std::string_view comes_from,
                                                        const LineRules& rules = {});

}  // namespace weft::coordinator
