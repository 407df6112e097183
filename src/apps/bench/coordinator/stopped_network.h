// Makes the data folder of a coordinator that was stopped while it had much work: the rows and
// blobs that `weft serve` would have left, written directly into its store. Used to measure the
// recovery.
//
// Jobs have a quorum of two. A running task has one of its two replicas, counted and stored; a
// settled task was accepted and paid; a pending task has no replica.
#pragma once

#include <cstdint>
#include <filesystem>

#include "common/base/result.h"

namespace weft::coordinator::bench {

struct StoppedNetwork {
  std::uint32_t jobs = 10'000;
  std::uint32_t pending = 1'000'000;  // Tasks of all jobs together, evenly spread.
  std::uint32_t running = 100'000;
  std::uint32_t settled = 100'000;
  std::uint32_t workers = 1'000;  // Workers that did this work and have left.
};

// Writes the folder; it is durable on return. Fails with invalid_argument if there are more jobs
// than tasks of any kind, and with errors of the store.
[[nodiscard]] Result<> leave_behind(const std::filesystem::path& data,
                                    const StoppedNetwork& network);

}  // namespace weft::coordinator::bench
