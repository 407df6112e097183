// The coordinator's own verifier. It computes parts of results again on this machine, in a confined
// process that the command line provides, and compares them with the stored bytes. Waiting orders
// are in a queue with a budget (verifier_queue.h). A part that differs is computed again, inside a
// larger range, and on a second device if this machine has one (second_look.h).
//
// A run that takes longer than part_max is ended. Its range is then cut into smaller runs, by the
// measured rate, down to one of the parts into which tasks are cut for checks. A task of several
// steps that cannot be cut is run a few steps at a time. If a single part or step takes too long,
// the order has failed and is late (jobs::Checked), and other orders of its job fail at once for
// VerifierBounds::late_for.
//
// A new kind of order is a class over DeviceRuns and ResultBytes, like RangeCheck,
// GroupCheck and PaidCheck, chosen in try_to_check().
//
// Threading: post functions from any thread; orders run on the verifier's thread, one at a time,
// and their answers come from it. Bounds: VerifierQueue::orders_max waiting orders;
// DeviceRuns::part_max for one part or step, and task_max for all steps of a task; VerifierBounds
// for the data in memory.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "apps/coordinator/ingest/busy_share.h"
#include "apps/coordinator/ingest/device_runs.h"
#include "apps/coordinator/ingest/group_check.h"
#include "apps/coordinator/ingest/paid_check.h"
#include "apps/coordinator/ingest/part_runner.h"
#include "apps/coordinator/ingest/range_check.h"
#include "apps/coordinator/ingest/result_bytes.h"
#include "apps/coordinator/ingest/second_look.h"
#include "apps/coordinator/ingest/verified_jobs.h"
#include "apps/coordinator/ingest/verifier_queue.h"
#include "decisions/jobs/world.h"
#include "decisions/scheduler/pricing.h"
#include "platform/store/blobs.h"

namespace weft::coordinator {

class Verifier {
 public:
  // Idle time after which the runners' process ends.
  static constexpr auto idle_max = std::chrono::seconds(60);

  using Verified = std::function<void(const jobs::VerifyOrder&, const jobs::Checked&)>;
  using Measured = std::function<void(const JobId&, const Result<scheduler::Measurement>&)>;

  Verifier(store::Blobs& blobs, PartRunnerFactory make, Verified verified, Measured measured,
           const VerifierBounds& bounds = {});
  Verifier(const Verifier&) = delete;
  ~Verifier();

  void verify(jobs::VerifyOrder order);
  void measure(jobs::MeasureOrder order);
  [[nodiscard]] std::size_t waiting() const;
  // Bytes of job data in memory.
  [[nodiscard]] std::uint64_t bytes_held() const { return jobs_.bytes(); }

 private:
  // Returns false if too many orders wait.
  [[nodiscard]] bool add(VerifierQueue::Order order);
  void serve(const std::stop_token& stop);
  void carry_out(const VerifierQueue::Order& order);
  [[nodiscard]] jobs::Checked check(const jobs::VerifyOrder& order);
  [[nodiscard]] Result<jobs::Checked> try_to_check(const jobs::VerifyOrder& order);
  [[nodiscard]] Result<scheduler::Measurement> measured(const jobs::MeasureOrder& order);

  const Verified verified_;
  const Measured measured_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  VerifierQueue queue_;  // Guarded by mutex_.
  // The following members are used by the verifier's thread only.
  BusyShare busy_;
  VerifiedJobs jobs_;
  DeviceRuns runs_;
  const ResultBytes bytes_;
  SecondLook look_{runs_, bytes_};
  RangeCheck ranges_{runs_, bytes_, look_};
  GroupCheck groups_;
  PaidCheck paid_;
  std::jthread thread_;  // Declared last: starts after the other members.
};

}  // namespace weft::coordinator
