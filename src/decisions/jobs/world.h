// Actions that the core wants done and cannot do itself, because it has no sockets, threads or
// disk. The wiring implements them with Drogon and SQLite, the tests with vectors.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "common/manifest/split.h"
#include "common/protocol/coordinator_message.h"
#include "common/records/records.h"
#include "decisions/billing/answers.h"
#include "decisions/jobs/events.h"

namespace weft::jobs {

// An order to join the outputs of all tasks of a job into the job's outputs. parts[task][output].
struct JoinOrder {
  JobId job;
  std::shared_ptr<const manifest::Manifest> manifest;
  std::vector<std::vector<store::OutputBlob>> parts;
};

// An order to compare the results of an audit, all of which have arrived (intake.h compares them).
struct AuditOrder {
  TaskId task;
  std::shared_ptr<const manifest::Manifest> manifest;
  manifest::Range range;                     // The range that was computed again.
  Hash root;                                 // The root that the suspect signed.
  std::vector<protocol::ChunkName> chunks;   // The chunks that the suspect had to open.
  protocol::Opening opening;                 // The opening that the suspect sent.
  std::vector<store::OutputBlob> suspected;  // The suspect's outputs, of the whole task.
  bool opened = true;                        // False if the suspect need not open anything.
  PublicKey auditor;                         //
  std::vector<store::OutputBlob> audited;    // The auditor's outputs, of the range.
};

// An order to compare a result with other results of its task.
struct CompareOrder {
  struct Side {
    Hash root;
    std::vector<store::OutputBlob> outputs;
  };
  TaskId task;
  PublicKey worker;  // The worker whose result is compared.
  std::uint32_t attempt = 0;
  std::shared_ptr<const manifest::Manifest> manifest;
  Side mine;
  std::vector<Side> others;
};

// An order for the coordinator's own verifier to check a result: it computes `ranges` again and
// compares them with the stored bytes.
struct VerifyOrder {
  TaskId task;
  std::shared_ptr<const manifest::Manifest> manifest;
  Hash root;
  std::vector<store::OutputBlob> outputs;  // Outputs of the whole task.
  std::vector<manifest::Range> ranges;
  PublicKey client;     // The job's client; clients take turns.
  std::string group{};  // A newcomer's network or key, for its result; these take turns.
  bool first = false;   // The worker is a newcomer and waits for the check.
  // Rival results of the task. If there are any, `ranges` are those of the `parts` parts in which a
  // rival differs.
  std::vector<std::vector<store::OutputBlob>> rivals;
  std::uint32_t parts = 1;
  // A group of steps to compute from the state before it. If there are any, they are computed in
  // the place of `ranges`.
  struct Group {
    std::uint32_t first = 0;  // The first step of the group.
    std::uint32_t count = 0;
    // The blob of the state before it (proof/task_state.h); nothing before the first step, which
    // begins from the job's own data.
    std::optional<store::OutputBlob> state{};
    Hash before;  // The root of that state to which the worker is committed.
    Hash after;   // The root after the group to which the worker is committed.
  };
  std::vector<Group> groups{};
  bool paid =
      false;  // The task is accepted, and its pay was taken; answered by Corrections::rechecked().
  // If a part is wrong and the second device of this machine does not finish it in time, the check
  // is late. If false, the word of the first device alone counts then.
  bool waits_for_second = false;
};
// An order for the verifier to run a part of a job, to measure what the job costs.
struct MeasureOrder {
  JobId job;
  std::shared_ptr<const manifest::Manifest> manifest;
  manifest::Range range;
  PublicKey client;
};

// A request for the next tasks that a convicted worker was paid for.
struct FindPaid {
  PublicKey worker;
  UnixMillis since = 0;  // The earliest time of acceptance.
  UnixMillis until = 0;  // The latest time of acceptance.
  std::optional<TaskId> after;
  std::uint32_t count = 0;
};

class World {
 public:
  virtual ~World() = default;

  // Sends a message to a worker. Does nothing if the session has ended.
  virtual void send(SessionId session, protocol::CoordinatorMessage message) = 0;
  // Sends the error and closes the session. WorkerSessions::left() need not follow.
  virtual void close(SessionId session, protocol::ErrorMessage why) = 0;

  // Stores small bytes as a blob, which is durable with the next commit().
  virtual void keep(ByteVector bytes) = 0;
  // Makes the batch durable, after the blobs that were kept before. `done` runs on the core's
  // thread, in the order of the calls, and never from inside commit().
  virtual void commit(store::Batch batch, std::function<void(Result<>)> done) = 0;

  // Answered by JobLife::joined().
  virtual void join(JoinOrder order) = 0;
  // Answered by VerificationLeases::inspected().
  virtual void inspect(AuditOrder order) = 0;

  // True if this machine has a verifier.
  [[nodiscard]] virtual bool verifies() const { return false; }
  // NOLINTBEGIN(performance-unnecessary-value-param): a machine with a verifier keeps the order.
  // Comes back as VerificationLeases::verified(), or Corrections::rechecked() where the order says
  // so.
  virtual void verify(VerifyOrder /*order*/) {}
  // Answered by VerificationLeases::measured().
  virtual void measure(MeasureOrder /*order*/) {}
  // Answered by Corrections::paid_found(), after all earlier commits.
  virtual void find_paid(FindPaid /*order*/) {}
  // Joins a job again that has ended and whose results were corrected. Answered by
  // Corrections::joined_again().
  virtual void join_again(const JobId&) {}
  // NOLINTEND(performance-unnecessary-value-param)

  // Has an answer audited by other workers. Answered by Completions::audited().
  virtual void audit_answer(const billing::AnswerAuditOrder&) {}
  // True if chains can be searched for the stage to blame.
  [[nodiscard]] virtual bool traces() const { return false; }
  // Searches the answer's chain for the stage to blame. Answered by Completions::traced().
  virtual void trace_answer(const billing::AnswerTraceOrder&) {}
  // The answer is settled: the core will ask nothing more about it.
  virtual void answer_settled(const billing::AnswerId&, billing::AnswerFate) {}
  // Stops a convicted worker from serving models.
  virtual void bar_server(const PublicKey&) {}

  // Answered by ResultComparisons::compared().
  virtual void compare(CompareOrder order) = 0;
  // Removes blobs that are no longer needed.
  virtual void forget(const std::vector<Hash>& blobs) { static_cast<void>(blobs); }
  // Removes states of the job whose check has ended; the job's next states use their room.
  virtual void forget_states(const JobId& job, const std::vector<store::OutputBlob>& states) {
    static_cast<void>(job);
    static_cast<void>(states);
  }

  // The state in memory differs from the stored state: the process must end, and recover when it
  // starts again.
  virtual void fatal(const Error& error) = 0;

  // The duration of the last ping to a worker, with its answer; none if it is not known.
  [[nodiscard]] virtual std::optional<Duration> round_trip(SessionId) const { return std::nullopt; }
};

}  // namespace weft::jobs
