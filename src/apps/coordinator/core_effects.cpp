#include "apps/coordinator/core_effects.h"

#include <cstdlib>
#include <memory>
#include <utility>

#include "apps/coordinator/ingest/corrections.h"
#include "apps/coordinator/ingest/output_room.h"
#include "common/base/log.h"
#include "decisions/jobs/corrections.h"
#include "decisions/jobs/job_life.h"
#include "decisions/jobs/result_comparisons.h"
#include "decisions/jobs/verification_leases.h"

namespace weft::coordinator {

void CoreEffects::run(runtime::Pool& pool, std::size_t key, std::function<void()> work,
                      std::function<void()> again) {
  if (pool.post(key, std::move(work))) return;
  retries_.post([this, again = std::move(again)] {
    parts_.loop.post_always([again](jobs::Core&, jobs::Moment) { again(); });
  });
}

// --- Workers.

void CoreEffects::send(jobs::SessionId id, protocol::CoordinatorMessage message) {
  parts_.workers.send(id, message);
}
void CoreEffects::close(jobs::SessionId id, protocol::ErrorMessage why) {
  parts_.workers.close(id, why);
}
std::optional<Duration> CoreEffects::round_trip(jobs::SessionId id) const {
  return parts_.workers.round_trip(id);
}

// --- The store.

void CoreEffects::keep(ByteVector bytes) {
  if (const auto added = parts_.blobs.add(bytes); !added)
    log_error("The statement of a receipt cannot be kept: {}", added.error().message);
}

void CoreEffects::commit(store::Batch batch, std::function<void(Result<>)> done) {
  count_accepted(batch.tasks, parts_.blobs.room());
  const auto back = [this, done](Result<> result) {
    parts_.loop.post_always([done, result](jobs::Core&, jobs::Moment) { done(result); });
  };
  // submit() fails only if the queue is full, which cannot happen because the core keeps few
  // commits in flight.
  if (auto queued = parts_.commits.submit(std::move(batch), back); !queued) back(queued);
}

void CoreEffects::forget(const std::vector<Hash>& blobs) {
  const std::size_t turn = blobs.empty() ? 0 : std::hash<Hash>()(blobs.front());
  const auto work = [this, blobs] {
    for (const Hash& blob : blobs) {
      if (const auto removed = parts_.blobs.remove(blob); !removed)
        log_debug("The blob {} stays: {}", blob.text(), removed.error().message);
    }
  };
  if (!parts_.joins.post(turn, work))
    log_debug("Some blobs are not removed: too many outputs wait to be joined.");
}

void CoreEffects::forget_states(const JobId& job, const std::vector<store::OutputBlob>& states) {
  const auto work = [this, job, states] {
    for (const store::OutputBlob& state : states) {
      if (parts_.blobs.remove(state.hash)) parts_.blobs.room().states_removed(job, state.bytes);
    }
  };
  if (!parts_.joins.post(std::hash<JobId>()(job), work))
    log_debug("Some states of job {} are not removed: too many outputs wait to be joined.",
              job.text());
}

void CoreEffects::fatal(const Error& error) {
  log_error(
      "The store refuses a commit, so the state in memory is not the stored one: {} Start the "
      "coordinator again; it continues from the stored state.",
      error.message);
  std::_Exit(1);
}

// --- Results of tasks.

void CoreEffects::join(jobs::JoinOrder order) {
  auto shared = std::make_shared<const jobs::JoinOrder>(std::move(order));
  run(
      parts_.joins, std::hash<JobId>()(shared->job),
      [this, shared] {
        auto outputs = parts_.intake.join(shared->job, *shared->manifest, shared->parts);
        parts_.loop.post_always([id = shared->job, outputs = std::move(outputs)](
                                    jobs::Core& core, jobs::Moment moment) {
          core.jobs().joined(id, outputs, moment);
        });
      },
      [this, shared] { join(*shared); });
}

void CoreEffects::inspect(jobs::AuditOrder order) {
  auto shared = std::make_shared<const jobs::AuditOrder>(std::move(order));
  run(
      parts_.joins, std::hash<TaskId>()(shared->task),
      [this, shared] {
        const auto outcome = parts_.intake.inspect(*shared);
        parts_.loop.post_always([shared, outcome](jobs::Core& core, jobs::Moment moment) {
          core.checks().inspected(shared->task, shared->auditor, outcome, moment);
        });
      },
      [this, shared] { inspect(*shared); });
}

void CoreEffects::compare(jobs::CompareOrder order) {
  auto shared = std::make_shared<const jobs::CompareOrder>(std::move(order));
  run(
      parts_.joins, std::hash<TaskId>()(shared->task),
      [this, shared] {
        parts_.loop.post_always(
            [result = parts_.intake.compare(*shared)](jobs::Core& core, jobs::Moment moment) {
              core.comparisons().compared(result, moment);
            });
      },
      [this, shared] { compare(*shared); });
}

void CoreEffects::verify(jobs::VerifyOrder order) {
  if (parts_.verifier != nullptr) parts_.verifier->verify(std::move(order));
}

void CoreEffects::measure(jobs::MeasureOrder order) {
  if (parts_.verifier != nullptr) parts_.verifier->measure(std::move(order));
}

void CoreEffects::find_paid(jobs::FindPaid order) {
  run(
      parts_.readers, std::hash<PublicKey>()(order.worker),
      [this, order] {
        parts_.loop.post_always([found = coordinator::find_paid(order, parts_.store)](
                                    jobs::Core& core, jobs::Moment moment) {
          core.corrections().paid_found(found, moment);
        });
      },
      [this, order] { find_paid(order); });
}

void CoreEffects::join_again(const JobId& job) {
  run(
      parts_.readers, std::hash<JobId>()(job),
      [this, job] {
        parts_.loop.post_always(
            [job, joined = coordinator::join_again(job, parts_.store, parts_.intake)](
                jobs::Core& core, jobs::Moment) { core.corrections().joined_again(job, joined); });
      },
      [this, job] { join_again(job); });
}

// --- Answers of models.

void CoreEffects::audit_answer(const billing::AnswerAuditOrder& order) {
  parts_.models.audit(order);
}
void CoreEffects::trace_answer(const billing::AnswerTraceOrder& order) {
  parts_.models.trace(order);
}
void CoreEffects::answer_settled(const billing::AnswerId& answer, billing::AnswerFate fate) {
  parts_.models.settled(answer, fate);
}
void CoreEffects::bar_server(const PublicKey& worker) { parts_.models.bar(worker); }

}  // namespace weft::coordinator
