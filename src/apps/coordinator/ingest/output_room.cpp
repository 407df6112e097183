#include "apps/coordinator/ingest/output_room.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "common/manifest/split.h"
#include "decisions/jobs/state_room.h"

namespace weft::coordinator {

namespace {

// The number of different copies of an output. Replicas that are compared by their bytes share one
// blob if they agree.
std::uint64_t copies_of(const manifest::Manifest& manifest) {
  return manifest.verify.compare.exact ? 1 : std::max<std::uint64_t>(1, manifest.verify.replicas);
}

}  // namespace

JobRoom room_of(const manifest::Manifest& manifest, const RoomShares& shares) {
  const std::size_t outputs = manifest.output_bytes().size();
  std::uint64_t bytes = 0, largest = 0;
  for (std::uint32_t task = 0; task < manifest.split.tasks; ++task) {
    const auto range = manifest::task_range(manifest, task);
    std::uint64_t of_task = 0;
    for (std::size_t i = 0; i < outputs; ++i)
      of_task += manifest::output_extent(manifest, i, range).size;
    bytes += of_task;
    largest = std::max(largest, of_task);
  }
  const std::uint64_t results = bytes * copies_of(manifest);
  // A job of one task needs no room for joining, because the task's outputs are the job's outputs.
  JobRoom room{.needs = {.results = results,
                         .of_known = shares.for_known ? bytes : 0,
                         .join = manifest.split.tasks > 1 ? bytes : 0,
                         .states = jobs::state_room(manifest)}};
  if (shares.of_network < 1) {
    const auto share = static_cast<std::uint64_t>(static_cast<double>(results) * shares.of_network);
    room.network_max = std::max(largest, share);
    room.needs.results += room.network_max;
  }
  return room;
}

void restore_room(const store::Loaded& rows, store::Room& room, const RoomShares& shares) {
  std::unordered_map<JobId, std::uint64_t> accepted;
  for (const store::Task& task : rows.tasks) {
    for (const store::OutputBlob& output : task.outputs) accepted[task.id.job] += output.bytes;
  }
  for (const store::Job& job : rows.jobs) {
    const auto manifest = manifest::parse(job.manifest);
    if (!manifest) continue;  // The core reports a manifest that cannot be read.
    auto [needs, network_max] = room_of(*manifest, shares);
    needs.results -= std::min(needs.results, accepted[job.id] * copies_of(*manifest));
    needs.of_known -= std::min(needs.of_known, accepted[job.id]);
    room.restore(job.id, needs, network_max);
  }
}

store::Room::For room_of_worker(const jobs::Book& book, const PublicKey& worker,
                                std::string network, const jobs::WorkerBlobs::Upload& upload) {
  using Part = store::Room::Part;
  store::Room::For out{.job = upload.output_of.value_or(upload.state_of.value_or(JobId())),
                       .part = upload.state_of ? Part::states : Part::other};
  const bool is_known = book.is_known(worker);
  if (upload.output_of) out.part = is_known ? Part::of_known : Part::results;
  if (!is_known) out.stranger = {.worker = worker, .network = std::move(network)};
  return out;
}

void count_accepted(std::span<const store::Task> tasks, store::Room& room) {
  for (const store::Task& task : tasks) {
    std::uint64_t bytes = 0;
    for (const store::OutputBlob& output : task.outputs) bytes += output.bytes;
    for (const PublicKey& worker : task.agreeing) room.accepted(task.id.job, worker, bytes);
  }
}

}  // namespace weft::coordinator
