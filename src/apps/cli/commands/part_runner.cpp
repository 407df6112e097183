#include "apps/cli/commands/part_runner.h"

#include <algorithm>
#include <list>

#include "common/base/log.h"
#include "worker/sandbox/sandbox.h"

namespace weft::cli {
namespace {

class SandboxPartRunner final : public coordinator::PartRunner {
 public:
  Result<Ran> run(const std::shared_ptr<const coordinator::VerifiedJob>& job, manifest::Range range,
                  Duration wall_max) override {
    if (!sandbox_ || !sandbox_->alive()) WEFT_OK(start());
    worker::TaskRun task{.job = exec_job(job), .options = {}, .wall_max = wall_max};
    task.options.range = range;
    WEFT_ASSIGN(exec::Output output, sandbox_->run(task));
    return Ran{.outputs = std::move(output.outputs),
               .seconds = std::max(output.gpu_seconds, output.wall_seconds),
               .rate = rate_};
  }
  void rest() override {
    sandbox_.reset();
    jobs_.clear();
  }

 private:
  Result<> start() {
    WEFT_ASSIGN(sandbox_, worker::Sandbox::start({}));
    if (Result<std::vector<std::string>> ready = sandbox_->wait_ready(); !ready) {
      sandbox_.reset();
      if (!std::exchange(said_, true))
        log_warning("Results of workers that are not invited cannot be checked here: {}",
                    ready.error().message);
      return pass(std::move(ready));
    }
    WEFT_ASSIGN(const protocol::Capabilities capabilities, sandbox_->describe());
    rate_ = std::clamp(capabilities.f32_gflop_per_s / 1000, 1e-4, 1000.0);
    return {};
  }
  std::shared_ptr<const exec::Job> exec_job(
      const std::shared_ptr<const coordinator::VerifiedJob>& job) {
    const auto found =
        std::ranges::find_if(jobs_, [&](const auto& each) { return each.first == job; });
    if (found != jobs_.end()) return found->second;
    auto made = std::make_shared<exec::Job>();
    made->manifest = *job->manifest;
    made->shader = job->shader;
    made->data = job->data;
    constexpr std::size_t jobs_max = 4;
    jobs_.emplace_front(job, made);
    if (jobs_.size() > jobs_max) jobs_.pop_back();
    return made;
  }

  std::unique_ptr<worker::Sandbox> sandbox_;
  double rate_ = 1;
  bool said_ = false;
  std::list<
      std::pair<std::shared_ptr<const coordinator::VerifiedJob>, std::shared_ptr<const exec::Job>>>
      jobs_;
};

}  // namespace

std::unique_ptr<coordinator::PartRunner> make_part_runner() {
  return std::make_unique<SandboxPartRunner>();
}

}  // namespace weft::cli
