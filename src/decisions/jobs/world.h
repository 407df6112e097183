// What the core wants done and cannot do itself: it has no sockets, no threads and no disk. The
// wiring implements it with Drogon and SQLite, the tests with vectors.
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

// The outputs of all tasks of a job, to be joined into the job's. parts[task][output].
struct JoinOrder {
  JobId job;
  std::shared_ptr<const manifest::Manifest> manifest;
  std::vector<std::vector<store::OutputBlob>> parts;
};

// An audit whose parts are all there (intake.h compares them).
struct AuditOrder {
  TaskId task;
  std::shared_ptr<const manifest::Manifest> manifest;
  manifest::Range range;                     // That was computed again.
  Hash root;                                 // What the suspect signed,
  std::vector<protocol::ChunkName> chunks;   // what it was to open of it,
  protocol::Opening opening;                 // and how it did.
  std::vector<store::OutputBlob> suspected;  // The suspect's outputs, of the whole task;
  bool opened = true;                        // Otherwise it need not open anything.
  PublicKey auditor;                         //
  std::vector<store::OutputBlob> audited;    // and the auditor's, of the range.
};

// A result to be compared with others of its task.
struct CompareOrder {
  struct Side {
    Hash root;
    std::vector<store::OutputBlob> outputs;
  };
  TaskId task;
  PublicKey worker;  // Whose result it is.
  std::uint32_t attempt = 0;
  std::shared_ptr<const manifest::Manifest> manifest;
  Side mine;
  std::vector<Side> others;
};

// A result that the coordinator's own verifier is to check: it computes `ranges` again and compares
// them with the bytes that are stored.
struct VerifyOrder {
  TaskId task;
  std::shared_ptr<const manifest::Manifest> manifest;
  Hash root;
  std::vector<store::OutputBlob> outputs;  // Outputs of the whole task.
  std::vector<manifest::Range> ranges;
  PublicKey client;     // Whose job it is: clients take turns.
  std::string group{};  // A newcomer's network, or its key, if it is its result. These take turns.
  bool first = false;   // The worker is a newcomer, which waits for it.
  // Other results of the task: the ranges are then those of `parts` in which one differs.
  std::vector<std::vector<store::OutputBlob>> rivals;
  std::uint32_t parts = 1;
  bool paid =
      false;  // The task is accepted, and the pay for it was taken: Corrections::rechecked().
  // Where a part is wrong, and the second device of this machine does not finish it in time, the
  // check is late. Otherwise the first device's word is all there is.
  bool waits_for_second = false;
};
// A part of a job that it is to run, to show what the job costs.
struct MeasureOrder {
  JobId job;
  std::shared_ptr<const manifest::Manifest> manifest;
  manifest::Range range;
  PublicKey client;
};

// Asks for the next tasks that a convicted worker was paid for.
struct FindPaid {
  PublicKey worker;
  UnixMillis since = 0;  // Accepted from then
  UnixMillis until = 0;  // to then.
  std::optional<TaskId> after;
  std::uint32_t count = 0;
};

class World {
 public:
  virtual ~World() = default;

  // To a worker; nothing where the session is gone.
  virtual void send(SessionId session, protocol::CoordinatorMessage message) = 0;
  // Sends the error and closes. WorkerSessions::left() need not follow.
  virtual void close(SessionId session, protocol::ErrorMessage why) = 0;

  // Keeps small bytes as a blob, which is durable with the next commit().
  virtual void keep(ByteVector bytes) = 0;
  // Makes the batch durable, after the blobs that were kept before. `done` comes back on the core's
  // thread, in the order of the calls, never from inside commit().
  virtual void commit(store::Batch batch, std::function<void(Result<>)> done) = 0;

  // Comes back as JobLife::joined().
  virtual void join(JoinOrder order) = 0;
  // Comes back as VerificationLeases::inspected().
  virtual void inspect(AuditOrder order) = 0;

  // Whether there is a verifier on this machine.
  [[nodiscard]] virtual bool verifies() const { return false; }
  // NOLINTBEGIN(performance-unnecessary-value-param): a machine with a verifier keeps the order.
  // Comes back as VerificationLeases::verified(), or Corrections::rechecked() where the order says
  // so.
  virtual void verify(VerifyOrder /*order*/) {}
  // Comes back as VerificationLeases::measured().
  virtual void measure(MeasureOrder /*order*/) {}
  // Comes back as Corrections::paid_found(), after what was committed before.
  virtual void find_paid(FindPaid /*order*/) {}
  // A job that has ended, with results that were corrected: comes back as
  // Corrections::joined_again().
  virtual void join_again(const JobId&) {}
  // NOLINTEND(performance-unnecessary-value-param)

  // An answer is to be read by others; comes back as Completions::audited().
  virtual void audit_answer(const billing::AnswerAuditOrder&) {}
  // Whether stages of chains can be searched here.
  [[nodiscard]] virtual bool traces() const { return false; }
  // The stage of its chain to blame is to be searched; comes back as Completions::traced().
  virtual void trace_answer(const billing::AnswerTraceOrder&) {}
  // Nothing more will be asked about it.
  virtual void answer_settled(const billing::AnswerId&, billing::AnswerFate) {}
  // A worker that was convicted serves no models any more.
  virtual void bar_server(const PublicKey&) {}

  // Comes back as ResultComparisons::compared().
  virtual void compare(CompareOrder order) = 0;
  // Removes blobs that are not needed any more.
  virtual void forget(const std::vector<Hash>& blobs) { static_cast<void>(blobs); }

  // What is in memory is no longer what is stored: the process must end, and recover when it starts
  // again.
  virtual void fatal(const Error& error) = 0;

  // How long a ping to a worker and its answer took last; nothing where that is not known.
  [[nodiscard]] virtual std::optional<Duration> round_trip(SessionId) const { return std::nullopt; }
};

}  // namespace weft::jobs
