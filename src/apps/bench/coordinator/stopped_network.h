// The data folder of a coordinator that was stopped in the middle of much work: the rows and blobs
// that `weft serve` would have left, written straight into its store. For measuring how fast it
// goes on.
//
// Jobs have a quorum of two. A running task has one of its two replicas, counted and stored; a
// settled one was accepted and paid; nothing has happened to a pending one.
#pragma once

#include <cstdint>
#include <filesystem>

#include "common/base/result.h"

namespace weft::coordinator::bench {

struct StoppedNetwork {
  std::uint32_t jobs = 10'000;
  std::uint32_t pending = 1'000'000;  // Tasks of all jobs together, spread evenly.
  std::uint32_t running = 100'000;
  std::uint32_t settled = 100'000;
  std::uint32_t workers = 1'000;  // Workers that did that work, and are gone.
};

// Durable on return. invalid_argument for more jobs than tasks of any kind; else as the store says.
[[nodiscard]] Result<> leave_behind(const std::filesystem::path& data,
                                    const StoppedNetwork& network);

}  // namespace weft::coordinator::bench
