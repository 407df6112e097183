// What one client may take of the jobs and tasks that run, where the operator has named the total
// only: a part of it, so that one client does not take all of a small one.
#pragma once

#include <cstdint>
#include <string>

#include "apps/cli/commands/serve.h"

namespace weft::cli {

struct ClientShares {
  std::uint64_t jobs = 0;
  std::uint64_t tasks = 0;
  std::string warning;  // For the operator: what was named and is not done; empty: nothing.
};

// `--jobs-per-client` and `--tasks-per-client`, or their defaults: a tenth of all jobs and a
// quarter of all tasks, at least one and at most 1,000 and 500,000. One client has half of
// `--jobs-max` at most, and one job at least, whatever the operator names.
[[nodiscard]] ClientShares client_shares(const ServeOptions& options);

}  // namespace weft::cli
