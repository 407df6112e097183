// Checks the results of workers as far as no state is needed: the number, sizes and hashes of the
// outputs, the claimed root, the number of roots of steps, and matrix products (Freivalds). Results
// that pass are stored as blobs.
//
// Threading: any, several at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

#include "common/base/guarded.h"
#include "common/protocol/result_frame.h"
#include "decisions/jobs/book.h"
#include "decisions/jobs/world.h"
#include "decisions/trust/referee.h"
#include "platform/store/blobs.h"

namespace weft::coordinator {

class Intake {
 public:
  struct Options {
    // Bytes of matrices B that are kept in memory; a matrix that does not fit is read again for
    // each task.
    std::uint64_t operand_bytes_max = std::uint64_t{256} << 20;
  };
  explicit Intake(store::Blobs& blobs) : Intake(blobs, Options()) {}
  Intake(store::Blobs& blobs, Options options) : blobs_(blobs), options_(options) {}

  // Checks and stores a result. Fails with data_loss, which says what is wrong with it; other codes
  // are failures of the coordinator (such as a full disk). `range` is the leased range if it is not
  // the whole task (an audit). `room` is the room that the outputs use.
  [[nodiscard]] Result<> take(const manifest::Manifest& manifest,
                              const protocol::ResultFrame& frame,
                              std::optional<manifest::Range> range = {},
                              const std::optional<store::Room::For>& room = {});

  // Compares the recomputed range of an audit with the suspect's result. The outcome is `failed` if
  // the suspect's opening does not lead to the root that it signed, or if the bytes cannot be read.
  [[nodiscard]] trust::AuditOutcome inspect(const jobs::AuditOrder& order);

  // True if the checkpoint that a worker reports is stored: a blob of this size that belongs to
  // this task.
  [[nodiscard]] bool holds(const protocol::Checkpoint& told) const {
    return holds_state(told.task, told.blob, told.bytes);
  }
  // True if the state that a check asked for is stored; false for a state that the worker lacks.
  [[nodiscard]] bool holds(const TaskId& task, const protocol::StepState& state) const {
    return state.bytes > 0 && holds_state(task, state.blob, state.bytes);
  }

  // Compares a new result of a task with its other results.
  [[nodiscard]] jobs::Comparison compare(const jobs::CompareOrder& order) const;

  // Drops the operands of a job that has ended.
  void forget(const manifest::Manifest& manifest);
  [[nodiscard]] std::uint64_t operand_bytes() const;

  // Joins the outputs of all tasks and stores them in the room that is reserved for `job`.
  [[nodiscard]] Result<std::vector<store::OutputBlob>> join(
      const JobId& job, const manifest::Manifest& manifest,
      const std::vector<std::vector<store::OutputBlob>>& parts);

 private:
  using Bytes = std::shared_ptr<const ByteVector>;
  [[nodiscard]] bool holds_state(const TaskId& task, const Hash& blob, std::uint64_t bytes) const;
  [[nodiscard]] Result<> check_product(const manifest::Kernel& kernel, manifest::Range rows,
                                       ByteSpan product);
  [[nodiscard]] Result<> check_opening(const jobs::AuditOrder& order);
  [[nodiscard]] Result<bool> compare_range(const jobs::AuditOrder& order);
  [[nodiscard]] Result<Bytes> operand(const Hash& hash);

  store::Blobs& blobs_;
  const Options options_;
  // The matrices B of the last few jobs. All tasks of a job use the same matrix B.
  static constexpr std::size_t operands_max = 4;
  Guarded<std::deque<std::pair<Hash, Bytes>>> operands_;
};

}  // namespace weft::coordinator
