#include "decisions/jobs/worker_view.h"

#include "decisions/jobs/core_tables.h"

namespace weft::jobs {

protocol::api::Worker worker_view(const CoreTables& tables, const PublicKey& key,
                                  const ConnectedWorker& worker) {
  const auto load = tables.scheduler.views().load(key);
  const auto reputation = tables.trust.votes().reputation(key);
  const auto& hello = worker.hello;
  return {.key = key.text(),
          .kind = hello.kind == protocol::WorkerKind::browser ? "browser" : "native",
          .device = hello.capabilities.device == protocol::DeviceKind::cpu ? "cpu" : "gpu",
          .description = hello.capabilities.description,
          .connected = true,
          .slots = hello.slots,
          .held = load ? load->held : 0,
          .accepted = reputation.accepted,
          .refused = reputation.refused,
          .balance = tables.accounts.spendable(key) + tables.accounts.held_pay(key),
          .held_pay = tables.accounts.held_pay(key),
          .f32_gflop_per_s = hello.capabilities.f32_gflop_per_s,
          .copy_gb_per_s = hello.capabilities.copy_gb_per_s,
          .since = worker.since,
          .price_min = load ? load->price_min : 0};
}

}  // namespace weft::jobs
