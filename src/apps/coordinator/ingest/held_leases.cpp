#include "apps/coordinator/ingest/held_leases.h"

#include "common/crypto/hmac.h"
#include "common/protocol/messages.h"
#include "decisions/jobs/lease_proof.h"
#include "decisions/jobs/state_room.h"

namespace weft::coordinator {

void HeldLeases::lease(const PublicKey& worker, const protocol::Lease& lease) {
  held_.with([&](auto& held) {
    for (const auto& task : lease.tasks) {
      held.insert_or_assign({TaskId{.job = lease.job, .index = task.index}, task.attempt},
                            manifest::Range{.first = task.first, .count = task.count});
    }
  });
  for (const auto& task : lease.tasks) allow_upload(worker, lease.job, task);
  std::vector<Hash> states;
  for (const auto& point : lease.resume) states.push_back(point.blob);
  book_.worker_blobs().allow_read(worker, lease.job, states);
}

void HeldLeases::open_states(const PublicKey& worker, const protocol::OpenStates& asked) {
  const auto manifest = book_.manifest(asked.task.job);
  if (!manifest || asked.task.index >= manifest->split.tasks) return;
  const std::vector<std::uint64_t> sizes(asked.groups.size(),
                                         jobs::state_bytes(*manifest, asked.task.index));
  book_.worker_blobs().allow_states(worker, asked.task, asked.attempt, sizes);
}

HeldLeases::Resumed HeldLeases::resume(const PublicKey& worker, const protocol::Resume& shown) {
  Resumed resumed;
  for (const auto& task : shown.held) {
    const Hash proof =
        jobs::lease_proof(secret_, jobs::LeaseKind::task, task.task, task.attempt, worker);
    const bool was_leased = crypto::equal_in_constant_time(task.proof.span(), proof.span());
    (was_leased ? resumed.held : resumed.unproven).push_back(task);
  }
  held_.with([&](auto& tasks) {
    for (const auto& task : resumed.held) tasks.try_emplace({task.task, task.attempt});
  });
  for (const auto& task : resumed.held) {
    allow_upload(worker, task.task.job, {.index = task.task.index, .attempt = task.attempt});
    book_.worker_blobs().allow_read(worker, task.task.job, {});
  }
  for (auto& task : resumed.unproven) task.proof = {};
  return resumed;
}

void HeldLeases::drop(const TaskId& task, std::uint32_t attempt) {
  held_.with([&](auto& held) { held.erase({task, attempt}); });
}

std::optional<manifest::Range> HeldLeases::range(const TaskId& task, std::uint32_t attempt) const {
  return held_.with([&](const auto& held) -> std::optional<manifest::Range> {
    const auto found = held.find({task, attempt});
    return found == held.end() ? std::nullopt : std::optional(found->second);
  });
}

bool HeldLeases::covers(const protocol::ReceiptItem& item) const {
  const auto leased = range(item.task, item.attempt);
  const auto manifest = book_.manifest(item.task.job);
  if (!leased || !manifest || item.task.index >= manifest->split.tasks) return false;
  const bool whole =
      leased->count == 0 || *leased == manifest::task_range(*manifest, item.task.index);
  return whole ? item.count == 0 : item.first == leased->first && item.count == leased->count;
}

void HeldLeases::allow_upload(const PublicKey& worker, const JobId& job,
                              const protocol::LeasedTask& task) {
  // Uploads that a lease allows, in multiples of the output size: 20 checkpoints, the outputs, and
  // some repetitions.
  constexpr std::uint64_t times = 24;
  constexpr std::uint64_t head_bytes = 4096;
  const auto manifest = book_.manifest(job);
  if (!manifest || task.index >= manifest->split.tasks) return;
  const manifest::Range range = task.count > 0
                                    ? manifest::Range{.first = task.first, .count = task.count}
                                    : manifest::task_range(*manifest, task.index);
  std::uint64_t bytes = head_bytes;
  std::vector<std::uint64_t> outputs;
  for (std::size_t i = 0; i < manifest->output_bytes().size(); ++i) {
    outputs.push_back(manifest::output_extent(*manifest, i, range).size);
    bytes += outputs.back();
  }
  // Room is reserved for the results of whole tasks, but not for results of checks.
  if (range != manifest::task_range(*manifest, task.index)) outputs.clear();
  book_.worker_blobs().allow_upload(worker, {.job = job, .index = task.index}, task.attempt,
                                    times * bytes, std::move(outputs));
}

}  // namespace weft::coordinator
