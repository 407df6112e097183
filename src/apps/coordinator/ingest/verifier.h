// The coordinator's own check of results: parts of them are computed again on this machine, in a
// confined process that the wiring brings, and compared with the bytes that are stored. What waits
// is a queue with a budget: disputes before canaries before samples before tasks of convicted
// workers; newcomers' samples and others have half of the time each while both wait, and clients
// take turns. Every eighth order is of the least urgent of these.
//
// Threading: post functions from any thread; orders run on a thread of its own, one at a time, and
// their answers come from there. Bounds: orders_max that wait; part_max for one part.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "apps/coordinator/ingest/busy_share.h"
#include "decisions/jobs/world.h"
#include "decisions/scheduler/pricing.h"
#include "decisions/trust/referee.h"
#include "decisions/trust/verifier_turns.h"
#include "platform/store/blobs.h"

namespace weft::coordinator {

// A job with its bytes at hand, as exec::Job has them.
struct VerifiedJob {
  std::shared_ptr<const manifest::Manifest> manifest;
  std::string shader;
  std::vector<ByteVector> data;  // By binding (of a kernel: a, b); empty where there is none.
};

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
};
using PartRunnerFactory = std::function<std::unique_ptr<PartRunner>()>;

class Verifier {
 public:
  static constexpr std::size_t orders_max = 8192;
  static constexpr auto part_max = std::chrono::seconds(5);   // It takes nothing that takes longer.
  static constexpr auto idle_max = std::chrono::seconds(60);  // Then its process ends.

  using Verified = std::function<void(const jobs::VerifyOrder&, const jobs::Checked&)>;
  using Measured = std::function<void(const JobId&, std::optional<scheduler::Measurement>)>;

  Verifier(store::Blobs& blobs, PartRunnerFactory make, Verified verified, Measured measured);
  Verifier(const Verifier&) = delete;
  ~Verifier();

  void verify(jobs::VerifyOrder order);
  void measure(jobs::MeasureOrder order);
  [[nodiscard]] std::size_t waiting() const;

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
  struct Known {
    JobId id;
    std::shared_ptr<const VerifiedJob> job;
    double seconds_per_workgroup = 0;  // The most so far.
  };

  void add(Urgency urgency, std::string turn, Order order);
  void serve(const std::stop_token& stop);
  [[nodiscard]] Urgency next();
  void carry_out(Order& order);
  [[nodiscard]] jobs::Checked check(const jobs::VerifyOrder& order);
  [[nodiscard]] Result<jobs::Checked> check_paid(const jobs::VerifyOrder& order, Known& job);
  [[nodiscard]] Result<std::vector<manifest::Range>> differing(
      const jobs::VerifyOrder& order) const;
  // Whether it computes the same of the part a second time, and inside a larger range.
  [[nodiscard]] bool is_steady(Known& job, manifest::Range part,
                               const std::vector<ByteVector>& computed);
  [[nodiscard]] Result<bool> same(const jobs::VerifyOrder& order, manifest::Range range,
                                  const std::vector<ByteVector>& computed) const;
  [[nodiscard]] Result<Known*> known(const JobId& id,
                                     const std::shared_ptr<const manifest::Manifest>& manifest);
  [[nodiscard]] Result<PartRunner::Ran> run(Known& job, manifest::Range range);

  store::Blobs& blobs_;
  const PartRunnerFactory make_;
  const Verified verified_;
  const Measured measured_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::array<Turns, urgencies> queues_;
  std::size_t waiting_ = 0;
  std::uint32_t turns_ = 0;
  trust::VerifierTurns halves_;  // The thread's own.
  BusyShare busy_;
  std::list<Known> known_;  // The thread's own; the latest first.
  std::unique_ptr<PartRunner> runner_;
  std::jthread thread_;  // Last: starts when everything above is there.
};

}  // namespace weft::coordinator
