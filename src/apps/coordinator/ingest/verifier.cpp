#include "apps/coordinator/ingest/verifier.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "apps/coordinator/ingest/canary_run.h"
#include "common/base/log.h"

namespace weft::coordinator {
namespace {

using Urgency = VerifierQueue::Urgency;

// The reason that is given if the queue is full. Another verifier may check the result, or this
// verifier later; results of newcomers wait until then.
constexpr std::string_view too_many = "Too many results wait for the verifier.";

Urgency urgency_of(const jobs::VerifyOrder& order) {
  if (order.paid) return Urgency::paid;
  if (!order.rivals.empty()) return Urgency::dispute;
  return order.first ? Urgency::newcomer : Urgency::routine;
}

}  // namespace

Verifier::Verifier(store::Blobs& blobs, PartRunnerFactory make, Verified verified,
                   Measured measured, const VerifierBounds& bounds)
    : verified_(std::move(verified)),
      measured_(std::move(measured)),
      jobs_(blobs, bounds),
      runs_(std::move(make), bounds.late_for),
      bytes_(blobs),
      groups_(blobs, jobs_, runs_, look_),
      paid_(blobs, runs_, bytes_, look_),
      thread_([this](const std::stop_token& stop) { serve(stop); }) {}

Verifier::~Verifier() = default;

std::size_t Verifier::waiting() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

void Verifier::verify(jobs::VerifyOrder order) {
  const Urgency urgency = urgency_of(order);
  std::string turn =
      urgency == Urgency::newcomer && !order.group.empty() ? order.group : order.client.text();
  const auto kept = std::make_shared<const jobs::VerifyOrder>(std::move(order));
  if (!add({.urgency = urgency, .turn = std::move(turn), .carry_out = [this, kept] {
              verified_(*kept, check(*kept));
            }}))
    verified_(
        *kept,
        {.outcome = trust::AuditOutcome::failed, .reason = std::string(too_many), .late = true});
}

void Verifier::measure(jobs::MeasureOrder order) {
  const auto kept = std::make_shared<const jobs::MeasureOrder>(std::move(order));
  if (!add({.urgency = Urgency::canary, .turn = kept->client.text(), .carry_out = [this, kept] {
              measured_(kept->job, measured(*kept));
            }}))
    measured_(kept->job, fail(ErrorCode::resource_exhausted, too_many));
}

bool Verifier::add(VerifierQueue::Order order) {
  const std::lock_guard lock(mutex_);
  if (!queue_.add(std::move(order))) return false;
  changed_.notify_one();
  return true;
}

void Verifier::serve(const std::stop_token& stop) {
  for (;;) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, stop, idle_max, [this] { return queue_.size() > 0; })) {
      if (stop.stop_requested()) break;
      lock.unlock();
      runs_.rest();
      jobs_.clear();
      continue;
    }
    if (stop.stop_requested()) break;
    const auto order = queue_.next();
    lock.unlock();
    if (order) carry_out(*order);
  }
  runs_.end();  // Called on this thread, which started the runners' processes.
}

void Verifier::carry_out(const VerifierQueue::Order& order) {
  const Instant began = now();
  order.carry_out();
  const Instant ended = now();
  {
    const std::lock_guard lock(mutex_);
    queue_.spent(order.urgency, seconds(ended - began));
  }
  if (busy_.worked(began, ended))
    log_warning(
        "The verifier is busy for {:.0f} % of the time: add another one before results have to "
        "wait (`weft invite --verifier`, then `weft work --invite CODE` on another machine).",
        100 * busy_.share());
}

jobs::Checked Verifier::check(const jobs::VerifyOrder& order) {
  auto checked = try_to_check(order);
  if (checked) return std::move(*checked);
  const Error& why = checked.error();
  log_info("The verifier cannot check {}: {}", order.task.text(), why.message);
  return {.outcome = trust::AuditOutcome::failed,
          .reason = why.message,
          .late = why.code == ErrorCode::deadline_exceeded,
          .of_steps = !order.groups.empty()};
}

Result<jobs::Checked> Verifier::try_to_check(const jobs::VerifyOrder& order) {
  WEFT_ASSIGN(VerifiedJobs::Known* const job, jobs_.find_or_load(order.task.job, order.manifest));
  if (order.paid) return paid_.check(order, *job);
  return order.groups.empty() ? ranges_.check(order, *job) : groups_.check(order, *job);
}

Result<scheduler::Measurement> Verifier::measured(const jobs::MeasureOrder& order) {
  const auto job = jobs_.find_or_load(order.job, order.manifest);
  auto measured = job ? run_canary(runs_, **job, order)
                      : Result<scheduler::Measurement>(std::unexpected(job.error()));
  if (!measured)
    log_info("The verifier cannot measure job {}: {}", order.job.text(), measured.error().message);
  return measured;
}

}  // namespace weft::coordinator
