#include "apps/cli/commands/client_shares.h"

#include <algorithm>

#include "common/base/counted.h"
#include "common/base/format.h"

namespace weft::cli {

ClientShares client_shares(const ServeOptions& options) {
  constexpr std::uint64_t jobs_most = 1'000;
  constexpr std::uint64_t tasks_most = 500'000;
  const auto part = [](std::uint64_t all, std::uint64_t parts, std::uint64_t most) {
    return std::min(most, std::max<std::uint64_t>(1, all / parts));
  };
  ClientShares shares{
      .jobs = options.jobs_per_client.value_or(part(options.jobs_max, 10, jobs_most)),
      .tasks = options.tasks_per_client.value_or(part(options.tasks_max, 4, tasks_most)),
      .warning = {}};
  const std::uint64_t half = std::max<std::uint64_t>(1, options.jobs_max / 2);
  if (shares.jobs > half) {
    shares.warning = weft::format(
        "--jobs-per-client {} is more than half of --jobs-max {}: one client may run {} at a time, "
        "so that there is room for others.",
        shares.jobs, options.jobs_max, counted(half, "job"));
    shares.jobs = half;
  }
  return shares;
}

}  // namespace weft::cli
