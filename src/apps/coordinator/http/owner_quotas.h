// The remaining quotas of an owner, for the headers of replies to its signed requests
// (docs/http.md, "Bounds"). Threading: any. Lifetime: the parts outlive it.
#pragma once

#include "apps/coordinator/http/model_catalog.h"
#include "apps/coordinator/http/upload_quota.h"
#include "decisions/jobs/book.h"
#include "platform/net/quota.h"

namespace weft::coordinator {

struct QuotaParts {
  const jobs::Book& book;
  const UploadQuota& uploads;
  const ModelCatalog& models;
  std::uint64_t jobs_max = 0;  // Jobs of one owner; 0: no bound, no header.
  std::uint64_t tasks_max = 0;
  PublicKey coordinator;  // Key of the coordinator, which has no quotas.
};

[[nodiscard]] std::vector<net::Quota> quotas_of(const QuotaParts& parts, const PublicKey& client,
                                                Instant at);

}  // namespace weft::coordinator
