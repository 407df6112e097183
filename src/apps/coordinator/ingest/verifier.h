// The coordinator's own check of results: parts of them are computed again on this machine, in a
// confined process that the wiring brings, and compared with the bytes that are stored. What waits
// is a queue with a budget (verifier_queue.h). A part that a result has wrong is computed again,
// inside a larger range, and on a second device where this machine has one (second_look.h).
//
// A run that takes longer than part_max is ended. What it was to compute is cut, by the rate that
// was measured, as far as to one of the parts into which tasks are cut for checks; a task of
// several steps that cannot be cut is run a few steps at a time. An order whose single part or step
// takes too long has failed and is late (jobs::Checked), and others of its job fail at once for
// VerifierBounds::late_for.
//
// A new kind of order is a class over DeviceRuns and ResultBytes, as RangeCheck and PaidCheck are,
// and one function here that adds it to the queue.
//
// Threading: post functions from any thread; orders run on a thread of its own, one at a time, and
// their answers come from there. Bounds: VerifierQueue::orders_max that wait;
// DeviceRuns::part_max for one part or step, and task_max for all steps of a task; VerifierBounds
// for the data at hand.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "apps/coordinator/ingest/busy_share.h"
#include "apps/coordinator/ingest/device_runs.h"
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
  static constexpr auto idle_max = std::chrono::seconds(60);  // Then its process ends.

  using Verified = std::function<void(const jobs::VerifyOrder&, const jobs::Checked&)>;
  using Measured = std::function<void(const JobId&, const Result<scheduler::Measurement>&)>;

  Verifier(store::Blobs& blobs, PartRunnerFactory make, Verified verified, Measured measured,
           const VerifierBounds& bounds = {});
  Verifier(const Verifier&) = delete;
  ~Verifier();

  void verify(jobs::VerifyOrder order);
  void measure(jobs::MeasureOrder order);
  [[nodiscard]] std::size_t waiting() const;
  // Data of jobs that it has at hand.
  [[nodiscard]] std::uint64_t bytes_held() const { return jobs_.bytes(); }

 private:
  // False: too many wait.
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
  VerifierQueue queue_;  // Under the mutex.
  // The thread's own.
  BusyShare busy_;
  VerifiedJobs jobs_;
  DeviceRuns runs_;
  const ResultBytes bytes_;
  SecondLook look_{runs_, bytes_};
  RangeCheck ranges_{runs_, bytes_, look_};
  PaidCheck paid_;
  std::jthread thread_;  // Last: starts when everything above is there.
};

}  // namespace weft::coordinator
