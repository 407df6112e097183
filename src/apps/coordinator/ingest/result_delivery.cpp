#include "apps/coordinator/ingest/result_delivery.h"

#include "apps/coordinator/ingest/output_room.h"

namespace weft::coordinator {

Result<> ResultDelivery::take(const PublicKey& worker, const protocol::ResultFrame& frame) const {
  const TaskId& task = frame.result.task;
  auto range = leases_.range(task, frame.result.attempt);
  if (!range)
    return fail(ErrorCode::not_found, "The worker does not hold attempt {} of task {}.",
                frame.result.attempt, task.text());
  const auto manifest = book_.manifest(task.job);
  if (!manifest) return fail(ErrorCode::not_found, "The job has ended.");
  if (range->count == 0) range.reset();
  WEFT_ASSIGN(const auto room, room_for(worker, frame.result));
  return intake_.take(*manifest, frame, range, room);
}

// Counts the outputs in the frame as uploads and finds the room that they use, which is their
// job's.
Result<std::optional<store::Room::For>> ResultDelivery::room_for(
    const PublicKey& worker, const protocol::TaskResult& result) const {
  bool is_output = true;
  for (const auto& part : result.outputs) {
    if (!part.in_frame) continue;
    const auto upload = book_.worker_blobs().take_upload(worker, part.bytes, result.task.job);
    if (!upload)
      return fail(ErrorCode::permission_denied,
                  "An output has {} bytes, more than the worker's leases allow.", part.bytes);
    is_output = is_output && upload->output_of.has_value();
  }
  jobs::WorkerBlobs::Upload upload;
  if (is_output) upload.output_of = result.task.job;
  return room_of_worker(book_, worker, prefix_, upload);
}

}  // namespace weft::coordinator
