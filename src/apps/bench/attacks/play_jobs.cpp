#include "apps/bench/attacks/play_jobs.h"

#include <algorithm>
#include <utility>

#include "apps/bench/coordinator/talk.h"
#include "common/base/format.h"
#include "common/protocol/api.h"

namespace weft::coordinator::bench {
namespace {

namespace attacks = trust::attacks;

constexpr std::uint32_t budget = 10'000;  // A budget in credits that exceeds the cost of any job.

}  // namespace

void PlayJobs::submit_more() {
  const attacks::Scene& scene = context_.options.scene;
  while (submitted_ < scene.tasks && open_.size() + submitting_ < scene.jobs_open) {
    const auto& plan = context_.options.plan;
    if (context_.strategy && plan.own_jobs > 0 && attacks::chance(context_.random) < plan.own_jobs)
      submit(true);
    submit(false);
  }
}

void PlayJobs::submit(bool own) {
  const attacks::Scene& scene = context_.options.scene;
  const std::uint32_t tasks =
      own ? context_.options.plan.own_tasks : std::min(scene.job_tasks, scene.tasks - submitted_);
  if (!own) {
    submitted_ += tasks;
    ++submitting_;
  }
  const std::size_t client = own ? own_started_++ % context_.cast.own_clients.size()
                                 : honest_started_++ % context_.cast.clients.size();
  const std::string body = manifest_of({.name = weft::format("play-{}", numbers_++),
                                        .tasks = tasks,
                                        .slices = scene.slices,
                                        .replicas = scene.replicas,
                                        .agreement_alone = context_.options.agreement_alone,
                                        .budget = budget});
  post({.own = own, .client = client, .body = body});
}

void PlayJobs::post(Submission wanted) {
  const crypto::KeyPair& wallet =
      wanted.own ? context_.cast.own_clients[wanted.client] : context_.cast.clients[wanted.client];
  const std::string body = wanted.body;
  asking_.ask(wallet, "POST", "/v1/jobs", body,
              [this, wanted = std::move(wanted)](int status, std::string_view answer) {
                if (status == 429 || status == 503) return refused_.push_back(wanted);
                submitting_ -= wanted.own ? 0 : 1;
                const auto told =
                    status == 202 ? protocol::api::from_json<protocol::api::Submitted>(answer)
                                  : fail(ErrorCode::unavailable,
                                         "The coordinator answered a submission with status {}: {}",
                                         status, answer);
                const auto job = told ? JobId::parse(told->id) : std::unexpected(told.error());
                if (!job) {
                  context_.broken = job.error();
                  return;
                }
                jobs_[*job] = {.own = wanted.own, .client = wanted.client};
                context_.played.jobs.push_back({.id = *job, .own = wanted.own});
                if (!wanted.own) open_.insert(*job);
              });
}

void PlayJobs::look_at_open() {
  if (looking_ > 0) return;
  for (const JobId& id : open_) {
    ++looking_;
    asking_.ask(context_.cast.clients[jobs_.at(id).client], "GET", "/v1/jobs/" + id.text(), "",
                [this, id](int status, std::string_view body) {
                  --looking_;
                  if (status != 200) return;
                  const auto job = protocol::api::from_json<protocol::api::Job>(body);
                  if (job && job->state != "running") open_.erase(id);
                });
  }
}

void PlayJobs::look() {
  look_at_open();
  for (Submission& each : std::exchange(refused_, {})) post(std::move(each));
}

bool PlayJobs::all_ended() const {
  return open_.empty() && submitting_ == 0 && submitted_ >= context_.options.scene.tasks;
}

const PlayJobs::Job* PlayJobs::find(const JobId& id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

}  // namespace weft::coordinator::bench
