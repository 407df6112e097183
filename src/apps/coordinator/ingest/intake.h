// Checks what a worker hands in, as far as that needs no state: the outputs are as many and as long
// as the manifest says, have their hashes, give the root that is claimed, and a matrix product is
// one (Freivalds). What passes is stored as blobs.
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
    // Size of the matrices B that are kept in memory; larger ones are read again for each task.
    std::uint64_t operand_bytes_max = std::uint64_t{256} << 20;
  };
  explicit Intake(store::Blobs& blobs) : Intake(blobs, Options()) {}
  Intake(store::Blobs& blobs, Options options) : blobs_(blobs), options_(options) {}

  // Stores the outputs. data_loss says what is wrong with them; other codes are our own trouble (a
  // full disk). `range`: what was leased, where that is not the whole task (an audit). `room`:
  // whose room they take.
  [[nodiscard]] Result<> take(const manifest::Manifest& manifest,
                              const protocol::ResultFrame& frame,
                              std::optional<manifest::Range> range = {},
                              const std::optional<store::Room::For>& room = {});

  // Whether the part that was computed again is what the suspect handed in. failed: its opening
  // does not lead to the root that it signed, or the bytes cannot be read.
  [[nodiscard]] trust::AuditOutcome inspect(const jobs::AuditOrder& order);

  // Whether the state that a worker tells of is here: a blob of that size that belongs to that
  // task.
  [[nodiscard]] bool holds(const protocol::Checkpoint& told) const;

  // Whether results of one task agree.
  [[nodiscard]] jobs::Comparison compare(const jobs::CompareOrder& order) const;

  // The job has ended: its operands are not kept.
  void forget(const manifest::Manifest& manifest);
  [[nodiscard]] std::uint64_t operand_bytes() const;

  // Joins the outputs of all tasks and stores them, in the room that is set aside for `job`.
  [[nodiscard]] Result<std::vector<store::OutputBlob>> join(
      const JobId& job, const manifest::Manifest& manifest,
      const std::vector<std::vector<store::OutputBlob>>& parts);

 private:
  using Bytes = std::shared_ptr<const ByteVector>;
  [[nodiscard]] Result<> check_product(const manifest::Kernel& kernel, manifest::Range rows,
                                       ByteSpan product);
  [[nodiscard]] Result<> check_opening(const jobs::AuditOrder& order);
  [[nodiscard]] Result<bool> compare_range(const jobs::AuditOrder& order);
  [[nodiscard]] Result<Bytes> operand(const Hash& hash);

  store::Blobs& blobs_;
  const Options options_;
  // The matrices B of the last few jobs: each task of a job needs all of its one.
  static constexpr std::size_t operands_max = 4;
  Guarded<std::deque<std::pair<Hash, Bytes>>> operands_;
};

}  // namespace weft::coordinator
