// The view of a connected worker for pages and commands.
#pragma once

#include "common/protocol/api.h"
#include "decisions/jobs/connected_workers.h"

namespace weft::jobs {

struct CoreTables;

[[nodiscard]] protocol::api::Worker worker_view(const CoreTables& tables, const PublicKey& key,
                                                const ConnectedWorker& worker);

}  // namespace weft::jobs
