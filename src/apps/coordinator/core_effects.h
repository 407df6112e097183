// Carries out the decisions of the core: messages to workers, commits, joins and comparisons of
// results, orders to the verifier, audits of answers. Slow work runs on pools, and its result
// returns to the core as an event.
//
// Threading: the functions of jobs::World run on the loop's thread; stop() may be called from any
// thread. Lifetime: the parts outlive the loop. Errors: an order that finds its pool full is
// repeated a little later, until stop(); a commit that the store refuses ends the process
// (fatal()).
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "apps/coordinator/http/model_service.h"
#include "apps/coordinator/ingest/intake.h"
#include "apps/coordinator/ingest/loop.h"
#include "apps/coordinator/ingest/retries.h"
#include "apps/coordinator/ingest/verifier.h"
#include "apps/coordinator/worker_sockets.h"
#include "decisions/jobs/world.h"
#include "platform/runtime/pool.h"
#include "platform/store/blobs.h"
#include "platform/store/group_commit.h"

namespace weft::coordinator {

class CoreEffects final : public jobs::World {
 public:
  struct Parts {
    WorkerSockets& workers;
    ModelService& models;
    Loop& loop;
    store::GroupCommit& commits;
    store::Store& store;
    store::Blobs& blobs;
    Intake& intake;
    runtime::Pool& joins;          // Joins and compares results.
    runtime::Pool& readers;        // Reads the store.
    Verifier* verifier = nullptr;  // Null if this machine cannot verify.
  };
  explicit CoreEffects(Parts parts) : parts_(parts) {}

  // Drops all orders that wait to be repeated because their pool was full.
  void stop() { retries_.stop(); }

  void send(jobs::SessionId id, protocol::CoordinatorMessage message) override;
  void close(jobs::SessionId id, protocol::ErrorMessage why) override;
  std::optional<Duration> round_trip(jobs::SessionId id) const override;
  void keep(ByteVector bytes) override;
  void commit(store::Batch batch, std::function<void(Result<>)> done) override;
  void join(jobs::JoinOrder order) override;
  void inspect(jobs::AuditOrder order) override;
  void compare(jobs::CompareOrder order) override;
  bool verifies() const override { return parts_.verifier != nullptr; }
  void verify(jobs::VerifyOrder order) override;
  void measure(jobs::MeasureOrder order) override;
  void find_paid(jobs::FindPaid order) override;
  void join_again(const JobId& job) override;
  void audit_answer(const billing::AnswerAuditOrder& order) override;
  bool traces() const override { return true; }
  void trace_answer(const billing::AnswerTraceOrder& order) override;
  void answer_settled(const billing::AnswerId& answer, billing::AnswerFate fate) override;
  void bar_server(const PublicKey& worker) override;
  void forget(const std::vector<Hash>& blobs) override;
  void forget_states(const JobId& job, const std::vector<store::OutputBlob>& states) override;
  void fatal(const Error& error) override;

 private:
  // Runs `work` on `pool`. If the pool is full, runs `again` on the loop's thread a little later.
  void run(runtime::Pool& pool, std::size_t key, std::function<void()> work,
           std::function<void()> again);

  const Parts parts_;
  Retries retries_;
};

}  // namespace weft::coordinator
