// What parts of the core want carried out that they do not do themselves. Each is a narrow
// interface, which a test implements in a few lines.
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

// Carries out what trust decides, in the order of the rulings.
class Rulings {
 public:
  virtual void carry_out(const std::vector<trust::Ruling>& rulings, Moment now) = 0;
  // The job's right answer depends on the device, on how it is cut, or on chance: it ends.
  virtual void end_irreproducible(const JobId& job, std::string_view why, Moment now) = 0;

 protected:
  ~Rulings() = default;
};

// Checks that are leased to workers (audits, traps and polls), as far as others tell them what
// happened.
class CheckLeases {
 public:
  // The worker was leased these tasks of a job of which the referee is told.
  virtual void leased(const JobId& job, const PublicKey& worker,
                      std::span<const protocol::LeasedTask> tasks, Moment now) = 0;
  // A worker is here that may do checks.
  virtual void worker_came(Moment now) = 0;
  virtual void worker_left(const PublicKey& worker, Moment now) = 0;
  virtual void job_ends(const JobId& job) = 0;

 protected:
  ~CheckLeases() = default;
};

// What is not settled yet of results that were accepted and paid.
class OpenClaims {
 public:
  // It was convicted, and what its clients are owed is not known yet: all of its owner's stake may
  // be.
  [[nodiscard]] virtual bool may_take_all(const PublicKey& worker) const = 0;
  // What the owner's workers owe to clients of wrong results; they may still be convicted.
  [[nodiscard]] virtual MicroCredits owed_by(const OwnerId& owner) const = 0;
  // Whether results of the client's ended jobs may still be computed again.
  [[nodiscard]] virtual bool may_correct_for(const PublicKey& client) const = 0;
  // A job has ended: corrections that waited for its end are settled.
  virtual void settle() = 0;

 protected:
  ~OpenClaims() = default;
};

// Pay that does not become its worker's at once.
class PayHolding {
 public:
  [[nodiscard]] virtual bool holds_pay_of(const PublicKey& worker) const = 0;
  // The pay for an accepted task.
  virtual void hold(std::vector<HeldPays::Entry> of_task, const RunningJob& job,
                    std::uint32_t index, std::size_t agreeing, Moment now) = 0;
  // The pay for a task that was not accepted, and can never be checked.
  virtual void hold_unknown(const HeldPays::Entry& entry, Moment now) = 0;

 protected:
  ~PayHolding() = default;
};

}  // namespace weft::jobs
