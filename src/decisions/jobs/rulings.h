// Interfaces for actions that one part of the core wants from another part. Each interface is
// narrow, so that a test can implement it in a few lines.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/protocol/coordinator_message.h"
#include "decisions/jobs/events.h"
#include "decisions/jobs/held_pay.h"
#include "decisions/trust/referee.h"

namespace weft::jobs {

struct RunningJob;

// Carries out the decisions of trust, in their order.
class Rulings {
 public:
  virtual void carry_out(const std::vector<trust::Ruling>& rulings, Moment now) = 0;
  // Ends a job whose right answer depends on the device, on how the job is cut, or on chance.
  virtual void end_irreproducible(const JobId& job, std::string_view why, Moment now) = 0;

 protected:
  ~Rulings() = default;
};

// The events that the checks that workers do (audits, traps and polls) are told of.
class CheckLeases {
 public:
  // The worker was leased these tasks, in a job of which the referee is told.
  virtual void leased(const JobId& job, const PublicKey& worker,
                      std::span<const protocol::LeasedTask> tasks, Moment now) = 0;
  // A worker has connected that may do checks.
  virtual void worker_came(Moment now) = 0;
  // A worker has connected, of whose results checks may be under way.
  virtual void connected(const PublicKey& worker) = 0;
  virtual void worker_left(const PublicKey& worker, Moment now) = 0;
  virtual void job_ends(const JobId& job) = 0;

 protected:
  ~CheckLeases() = default;
};

// Unsettled claims to results that were accepted and paid.
class OpenClaims {
 public:
  // True if the worker was convicted and its debts to clients are not known yet: all of its owner's
  // stake may be needed.
  [[nodiscard]] virtual bool may_take_all(const PublicKey& worker) const = 0;
  // The sum that the owner's workers, which may still be convicted, owe to clients of wrong
  // results.
  [[nodiscard]] virtual MicroCredits owed_by(const OwnerId& owner) const = 0;
  // True if results of the client's ended jobs may still be computed again.
  [[nodiscard]] virtual bool may_correct_for(const PublicKey& client) const = 0;
  // Settles corrections that waited for the end of a job.
  virtual void settle() = 0;

 protected:
  ~OpenClaims() = default;
};

// Holds pay that does not become its worker's at once.
class PayHolding {
 public:
  [[nodiscard]] virtual bool holds_pay_of(const PublicKey& worker) const = 0;
  // Holds the pay for an accepted task.
  virtual void hold(std::vector<HeldPays::Entry> of_task, const RunningJob& job,
                    std::uint32_t index, std::size_t agreeing, Moment now) = 0;
  // Holds the pay for a task that was not accepted and can never be checked.
  virtual void hold_unknown(const HeldPays::Entry& entry, Moment now) = 0;

 protected:
  ~PayHolding() = default;
};

}  // namespace weft::jobs
