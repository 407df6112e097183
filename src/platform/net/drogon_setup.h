// What both sides change of Drogon's and trantor's process-wide defaults. Private to this folder.
#pragma once

#include <cstddef>

namespace weft::net {

// Drogon refuses WebSocket messages over 128 KiB and logs to standard output. Safe to call often
// and from any thread.
void set_up_drogon_once();

// What it says goes into the log as errors rather than for debugging. For the start of a server:
// where something is wrong with that, Drogon says so and ends the process.
void let_drogon_complain(bool on);

// The largest WebSocket message that Drogon itself lets through; smaller bounds are ours, so that
// they can answer.
inline constexpr std::size_t drogon_message_bytes_max = std::size_t{4} << 20;

}  // namespace weft::net
