// Takes a result of a worker until it is stored: rejects results of tasks that the worker does not
// hold, counts the bytes as uploads, and passes them to Intake.
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
  // `prefix` is net::address_prefix() of the worker's address. All arguments must outlive this
  // object.
  ResultDelivery(jobs::Book& book, Intake& intake, const HeldLeases& leases, std::string prefix)
      : book_(book), intake_(intake), leases_(leases), prefix_(std::move(prefix)) {}

  // Stores the outputs. Fails with not_found if the worker does not hold the attempt or the job has
  // ended, with permission_denied if the outputs exceed the bytes that the worker's leases allow,
  // and with the errors of Intake::take().
  [[nodiscard]] Result<> take(const PublicKey& worker, const protocol::ResultFrame& frame) const;

 private:
  // The room that the outputs in a result's frame use.
  [[nodiscard]] Result<std::optional<store::Room::For>> room_for(
      const PublicKey& worker, const protocol::TaskResult& result) const;

  jobs::Book& book_;
  Intake& intake_;
  const HeldLeases& leases_;
  const std::string prefix_;
};

}  // namespace weft::coordinator
