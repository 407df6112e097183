// Checks what a worker hands in, as far as that needs no state: the outputs are as many and as long as the manifest says,
// have their hashes, give the root that is claimed, and a matrix product is one (Freivalds). What passes is stored as blobs.
//
// Threading: any, several at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

#include "apps/coordinator/book.h"
#include "apps/coordinator/world.h"
#include "common/base/guarded.h"
#include "common/protocol/codec.h"
#include "service/store/blobs.h"
#include "service/trust/referee.h"

namespace weft::coordinator {

class Intake {
 public:
  explicit Intake(store::Blobs& blobs) : blobs_(blobs) {}

  // Stores the outputs. data_loss says what is wrong with them; other codes are our own trouble (a full disk). `range`: what
  // was leased, where that is not the whole task (an audit).
  [[nodiscard]] Result<> take(const manifest::Manifest& manifest, const protocol::ResultFrame& frame, std::optional<manifest::Range> range = {});

  // Whether the part that was computed again is what the suspect handed in. failed: its opening does not lead to the root that
  // it signed, or the bytes cannot be read.
  [[nodiscard]] trust::AuditOutcome inspect(const AuditOrder& order);

  // Whether results of one task agree.
  [[nodiscard]] Comparison compare(const CompareOrder& order) const;

  // Joins the outputs of all tasks and stores them.
  [[nodiscard]] Result<std::vector<store::OutputBlob>> join(const manifest::Manifest& manifest,
                                                            const std::vector<std::vector<store::OutputBlob>>& parts);

 private:
  using Bytes = std::shared_ptr<const ByteVector>;
  [[nodiscard]] Result<> check_product(const manifest::Kernel& kernel, manifest::Range rows, ByteSpan product);
  [[nodiscard]] Result<> check_opening(const AuditOrder& order);
  [[nodiscard]] Result<bool> compare_range(const AuditOrder& order);
  [[nodiscard]] Result<Bytes> operand(const Hash& hash);

  store::Blobs& blobs_;
  // The matrices B of the last few jobs: each task of a job needs all of its one.
  static constexpr std::size_t operands_max = 4;
  Guarded<std::deque<std::pair<Hash, Bytes>>> operands_;
};

}  // namespace weft::coordinator
