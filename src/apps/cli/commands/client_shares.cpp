#include "apps/cli/commands/client_shares.h"

#include <algorithm>

namespace weft::cli {

ClientShares client_shares(const ServeOptions& options) {
  constexpr std::uint64_t jobs_most = 1'000;
  constexpr std::uint64_t tasks_most = 500'000;
  const auto part = [](std::uint64_t all, std::uint64_t parts, std::uint64_t most) {
    return std::min(most, std::max<std::uint64_t>(1, all / parts));
  };
  return {.jobs = options.jobs_per_client.value_or(part(options.jobs_max, 10, jobs_most)),
          .tasks = options.tasks_per_client.value_or(part(options.tasks_max, 4, tasks_most))};
}

}  // namespace weft::cli
