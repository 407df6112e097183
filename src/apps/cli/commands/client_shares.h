// The number of running jobs and tasks that one client may have if the operator has set only the
// totals: a part of them, so that one client cannot use a small total alone.
#pragma once

#include <cstdint>
#include <string>

#include "apps/cli/commands/serve.h"

namespace weft::cli {

struct ClientShares {
  std::uint64_t jobs = 0;
  std::uint64_t tasks = 0;
  std::string warning;  // Names an option that was reduced; may be empty.
};

// Returns `--jobs-per-client` and `--tasks-per-client`, or their defaults: a tenth of all jobs (at
// least 1, at most 1,000) and a quarter of all tasks (at least 1, at most 500,000). Whatever the
// operator sets, one client may have at most half of `--jobs-max`, and at least one job.
[[nodiscard]] ClientShares client_shares(const ServeOptions& options);

}  // namespace weft::cli
