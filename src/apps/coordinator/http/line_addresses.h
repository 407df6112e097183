// Chooses the direct links of a worker that the coordinator passes on to other members of its
// chains. A worker may be a stranger, and other workers connect to the addresses that it names.
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::coordinator {

// Rules that are turned off only in tests.
struct LineRules {
  bool addresses_are_checked = true;
};

// Filters the lines that a worker names. A line "tcp://HOST:PORT#..." is passed on if HOST is the
// address from which the worker connects, a public address (`weft work --peer-address`), or an
// address of the private network that the worker is in. A worker on this machine may also name
// loopback and any private network. Other lines ("webrtc") are passed on unchanged.
[[nodiscard]] std::vector<std::string> lines_to_pass_on(const std::vector<std::string>& lines,
                                                        std::string_view comes_from,
                                                        const LineRules& rules = {});

}  // namespace weft::coordinator
