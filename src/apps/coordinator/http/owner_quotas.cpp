#include "apps/coordinator/http/owner_quotas.h"

#include <algorithm>

namespace weft::coordinator {

std::vector<net::Quota> quotas_of(const QuotaParts& parts, const PublicKey& client, Instant at) {
  std::vector<net::Quota> quotas;
  if (client == parts.coordinator) return quotas;
  const auto counted = [&](const char* name, std::uint64_t most, std::uint64_t taken) {
    if (most > 0)
      quotas.push_back(
          {.name = name, .limit = most, .remaining = most - std::min(most, taken), .unit = {}});
  };
  const OwnerId owner = parts.book.owner_of(client);
  const jobs::Book::Load load = parts.book.load_of(owner);
  counted("jobs", parts.jobs_max, load.jobs);
  counted("tasks", parts.tasks_max, load.tasks);
  counted("models", parts.models.models_per_owner(), parts.models.count_of(client));
  const net::RateLimit::Left left = parts.uploads.left(owner, at);
  quotas.push_back({.name = "uploads",
                    .limit = static_cast<std::uint64_t>(left.burst),
                    .remaining = static_cast<std::uint64_t>(left.remaining),
                    .unit = "content-bytes",
                    .window = left.window,
                    .whole_after = left.whole_after});
  return quotas;
}

}  // namespace weft::coordinator
