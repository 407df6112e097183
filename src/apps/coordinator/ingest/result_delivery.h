// A result that comes in, until it is stored: only what the worker holds is looked at, its bytes
// count as uploads do, and Intake checks them.
//
// Threading: one thread at a time for one session.
#pragma once

#include <optional>
#include <string>

#include "apps/coordinator/ingest/held_leases.h"
#include "apps/coordinator/ingest/intake.h"
#include "common/base/result.h"
#include "common/protocol/result_frame.h"
#include "decisions/jobs/book.h"

namespace weft::coordinator {

class ResultDelivery {
 public:
  // `prefix`: the worker's network, as net::address_prefix() has it. All outlive this.
  ResultDelivery(jobs::Book& book, Intake& intake, const HeldLeases& leases, std::string prefix)
      : book_(book), intake_(intake), leases_(leases), prefix_(std::move(prefix)) {}

  // Stores the outputs. not_found: the worker does not hold the attempt, or the job has ended;
  // permission_denied: more bytes than its leases lead to; errors of Intake::take().
  [[nodiscard]] Result<> take(const PublicKey& worker, const protocol::ResultFrame& frame) const;

 private:
  // Whose room the outputs in the frame of a result take.
  [[nodiscard]] Result<std::optional<store::Room::For>> room_for(
      const PublicKey& worker, const protocol::TaskResult& result) const;

  jobs::Book& book_;
  Intake& intake_;
  const HeldLeases& leases_;
  const std::string prefix_;
};

}  // namespace weft::coordinator
