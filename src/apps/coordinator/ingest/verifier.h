// The coordinator's own check of results: parts of them are computed again on this machine, in a
// confined process that the wiring brings, and compared with the bytes that are stored. What waits
// is a queue with a budget: disputes before canaries before samples before tasks of convicted
// workers; newcomers' samples and others have half of the time each while both wait, and clients
// take turns. Every eighth order is of the least urgent of these. A part that a result has wrong is
// computed again, inside a larger range, and on a second device where this machine has one.
//
// A run that takes longer than part_max is ended. What it was to compute is cut, by the rate that
// was measured, as far as to one of the parts into which tasks are cut for checks; an order whose
// single part takes too long has failed and is late (jobs::Checked), and others of its job fail at
// once for VerifierBounds::late_for.
//
// Threading: post functions from any thread; orders run on a thread of its own, one at a time, and
// their answers come from there. Bounds: orders_max that wait; part_max for one part;
// VerifierBounds for the data at hand.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "apps/coordinator/ingest/busy_share.h"
#include "apps/coordinator/ingest/verified_jobs.h"
#include "apps/coordinator/ingest/verifier_runs.h"
#include "decisions/jobs/world.h"
#include "decisions/scheduler/pricing.h"
#include "decisions/trust/referee.h"
#include "decisions/trust/verifier_turns.h"
#include "platform/store/blobs.h"

namespace weft::coordinator {

// Runs parts of strangers' jobs, confined. Threading: one thread, which owns it from its first call
// on.
class PartRunner {
 public:
  struct Ran {
    std::vector<ByteVector> outputs;  // Outputs of the range.
    double seconds = 0;
    double rate = 1;  // The device's, relative to the reference, as measured here.
  };
  virtual ~PartRunner() = default;
  // deadline_exceeded: it takes longer than `wall_max`; unavailable: there is no device.
  [[nodiscard]] virtual Result<Ran> run(const std::shared_ptr<const VerifiedJob>& job,
                                        manifest::Range range, Duration wall_max) = 0;
  // Nothing is asked for now: lets go of the process.
  virtual void rest() = 0;
  // The vendor of its device; empty before the first run.
  [[nodiscard]] virtual std::string vendor() const { return {}; }
  // A runner on a device of this machine with another driver, owned by the caller; null without
  // one.
  [[nodiscard]] virtual std::unique_ptr<PartRunner> on_another_device() { return nullptr; }
};
using PartRunnerFactory = std::function<std::unique_ptr<PartRunner>()>;

class Verifier {
 public:
  static constexpr std::size_t orders_max = 8192;
  static constexpr auto part_max = std::chrono::seconds(5);   // It takes nothing that takes longer.
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
  enum Urgency : std::uint8_t { dispute, canary, first, routine, paid, urgencies };
  // So often the least urgent of what waits has its turn, so that nothing waits without end.
  static constexpr std::uint32_t least_urgent_every = 8;
  struct Order {
    std::optional<jobs::VerifyOrder> verify;
    std::optional<jobs::MeasureOrder> measure;
  };
  // Orders of one urgency: clients take turns; of newcomers' samples, the newcomers' networks.
  struct Turns {
    std::map<std::string, std::deque<Order>> of;
    std::optional<std::string> last;
  };
  using Known = VerifiedJobs::Known;
  enum Device : std::uint8_t { first_device, second_device };
  // What is known of a part that a result has otherwise than the first device.
  struct Opinion {
    trust::Devices devices = trust::Devices::one;
    bool unsteady = false;  // It is the job, and why.
    bool late = false;      // The second device has not finished, and is waited for.
    std::string reason;
  };

  void add(Urgency urgency, std::string turn, Order order);
  void serve(const std::stop_token& stop);
  [[nodiscard]] Urgency next();
  void carry_out(Order& order);
  [[nodiscard]] Result<scheduler::Measurement> measurement(const jobs::MeasureOrder& order);
  [[nodiscard]] jobs::Checked check(const jobs::VerifyOrder& order);
  [[nodiscard]] Result<jobs::Checked> check_paid(const jobs::VerifyOrder& order, Known& job);
  [[nodiscard]] Result<std::vector<manifest::Range>> differing(
      const jobs::VerifyOrder& order) const;
  // Computes the part again, inside a larger range, and both on the second device.
  [[nodiscard]] Opinion opinion(const jobs::VerifyOrder& order, Known& job, manifest::Range part,
                                const std::vector<ByteVector>& computed);
  // Whether the device computes the same of the part again, and inside a larger range.
  [[nodiscard]] bool is_steady(Known& job, manifest::Range part,
                               const std::vector<ByteVector>& computed, Device device);
  [[nodiscard]] manifest::Range first_wrong(const jobs::VerifyOrder& order,
                                            const std::vector<manifest::Range>& parts,
                                            manifest::Range range,
                                            const std::vector<ByteVector>& computed) const;
  [[nodiscard]] static std::uint32_t workgroups_in_time(const Known& job, Device device);
  [[nodiscard]] Result<bool> same(const jobs::VerifyOrder& order,
                                  const std::vector<store::OutputBlob>& outputs,
                                  manifest::Range range,
                                  const std::vector<ByteVector>& computed) const;
  [[nodiscard]] Result<PartRunner::Ran> run(Known& job, manifest::Range range,
                                            Device device = first_device);

  store::Blobs& blobs_;
  const PartRunnerFactory make_;
  const Verified verified_;
  const Measured measured_;
  const Duration late_for_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::array<Turns, urgencies> queues_;
  std::size_t waiting_ = 0;
  std::uint32_t turns_ = 0;
  trust::VerifierTurns halves_;  // The thread's own.
  BusyShare busy_;
  VerifiedJobs jobs_;                                   // The thread's own.
  std::array<std::unique_ptr<PartRunner>, 2> runners_;  // By device.
  bool has_second_ = true;                              // As far as is known.
  std::jthread thread_;  // Last: starts when everything above is there.
};

}  // namespace weft::coordinator
