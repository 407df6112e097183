#include "apps/cli/follow_job.h"

#include <chrono>

#include "apps/cli/exit_code.h"
#include "apps/cli/interruption.h"
#include "apps/cli/progress.h"
#include "common/base/format.h"
#include "common/crypto/sha256.h"

namespace weft::cli {
namespace api = protocol::api;
namespace {

constexpr auto poll_every = std::chrono::milliseconds(200);
constexpr auto quiet = std::chrono::seconds(3);  // Waiting time before the reason is printed.

// Prints on standard error why a job waits: after a while in which no part of it runs, and again
// when the reason changes. While a part of the job runs, waiting tasks are normal, unless they can
// never run.
class Reasons {
 public:
  void look(const api::Job& job, const std::string& coordinator, Progress& progress) {
    const auto now = std::chrono::steady_clock::now();
    const std::string& reason = job.waiting.reason;
    const bool in_vain = reason == "wallets" || reason == "requirements" || reason == "too-slow" ||
                         reason == "no-workers";
    if (reason.empty() || (job.leased > 0 && !in_vain)) {
      since_ = now;
      return;
    }
    if (job.accepted != accepted_) since_ = now;
    accepted_ = job.accepted;
    if (now - since_ < quiet || reason == told_) return;
    told_ = reason;
    std::string hint;
    if (reason == "no-workers" || reason == "wallets")
      hint = weft::format(" {} joins with weft work --coordinator {}{}",
                          reason == "wallets" ? "Another" : "One", coordinator,
                          reason == "wallets" ? " --wallet FILE" : "");
    progress.wipe();
    say_beside_progress(job.waiting.detail + hint);
  }

 private:
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  std::uint32_t accepted_ = 0;
  std::string told_;
};

}  // namespace

Result<api::Job> follow_job(ApiClient& client, const std::string& id,
                            const std::string& coordinator) {
  Progress progress(id.substr(0, 8));
  Reasons reasons;
  for (;;) {
    Result<api::Job> job = client.job(id);
    if (interrupted())
      return fail(
          ErrorCode::cancelled,
          "Interrupted. The job continues: follow it with weft submit --follow {} --coordinator {}",
          id, coordinator);
    if (!job && exit_code(job.error().code) == 3)
      return fail(job.error().code,
                  "{} Follow the job later with weft submit --follow {} --coordinator {}",
                  job.error().message, id, coordinator);
    if (!job || job->state != "running") return job;
    progress.show(job->accepted, job->tasks, weft::format("accepted, {} running", job->leased));
    reasons.look(*job, coordinator, progress);
    sleep_unless_interrupted(poll_every);
  }
}

Result<ByteVector> fetch_output(ApiClient& client, const api::Job& job, std::size_t index) {
  const api::JobOutput& output = job.outputs.at(index);
  WEFT_ASSIGN(ByteVector bytes, client.output(job.id, index));
  if (const Hash got = crypto::sha256(bytes); got.text() != output.hash) {
    return fail(ErrorCode::data_loss, "Output {} has the hash {} and should have {}.", index,
                got.text(), output.hash);
  }
  return bytes;
}

}  // namespace weft::cli
