#include "apps/cli/commands/part_runner.h"

#include <algorithm>
#include <list>

#include "common/base/log.h"
#include "worker/sandbox/sandbox.h"

namespace weft::cli {
namespace {

// The number of adapters that are tried.
constexpr std::size_t adapters_max = 8;

class SandboxPartRunner final : public coordinator::PartRunner {
 public:
  SandboxPartRunner(worker::Sandbox::Options options, std::vector<std::filesystem::path> drivers,
                    const PartRunnerBounds& bounds)
      : options_(std::move(options)), drivers_(std::move(drivers)), bounds_(bounds) {}

  Result<Ran> run(const std::shared_ptr<const coordinator::VerifiedJob>& job,
                  const coordinator::PartRun& part, Duration wall_max) override {
    const std::shared_ptr<const exec::Job> copy = exec_job(job);
    if (!sandbox_ || !sandbox_->alive()) WEFT_OK(start());
    worker::TaskRun task{.job = copy, .options = {}, .wall_max = wall_max};
    task.options.range = part.range;
    task.options.step_first = part.step_first;
    task.options.step_count = part.step_count;
    task.options.state = part.state;
    WEFT_ASSIGN(exec::Output output, sandbox_->run(task));
    return Ran{.outputs = std::move(output.outputs),
               .seconds = std::max(output.gpu_seconds, output.wall_seconds),
               .rate = rate_};
  }
  void rest() override {
    sandbox_.reset();
    jobs_.clear();
    sent_bytes_ = 0;
  }
  std::string vendor() const override { return vendor_; }
  std::unique_ptr<coordinator::PartRunner> on_another_device() override {
    // A second device must be of another vendor, because devices of one vendor share a driver and
    // its faults.
    const auto is_other = [&](const worker::Sandbox::Options& options) -> Result<bool> {
      WEFT_ASSIGN(const auto sandbox, worker::Sandbox::start(options));
      WEFT_OK(sandbox->wait_ready());
      WEFT_ASSIGN(const protocol::Capabilities capabilities, sandbox->describe());
      return !capabilities.vendor.empty() && capabilities.vendor != vendor_;
    };
    std::vector<worker::Sandbox::Options> candidates;
    for (std::size_t number = 0; number < adapters_max; ++number) {
      candidates.push_back(options_);
      candidates.back().adapter = number;
    }
    for (const std::filesystem::path& driver : drivers_) {
      std::error_code missing;
      if (!std::filesystem::exists(driver, missing)) continue;
      candidates.push_back(options_);
      candidates.back().driver = driver;
    }
    bool past_last = false;
    for (const auto& options : candidates) {
      if (options.adapter && past_last) continue;
      const Result<bool> other = is_other(options);
      if (other && *other) {
        auto runner = std::make_unique<SandboxPartRunner>(
            options, std::vector<std::filesystem::path>(), bounds_);
        if (runner->start()) {
          log_info(
              "The verifier's second device is of the vendor {}, its first one of the vendor {}.",
              runner->vendor_, vendor_);
          return runner;
        }
      }
      past_last = past_last || !other;
    }
    log_info(
        "The verifier has only one device, of the vendor {}, so its checks alone convict no "
        "worker. Chromium's software driver, or a driver of another vendor, adds a second device.",
        vendor_);
    return nullptr;
  }

 private:
  Result<> start() {
    WEFT_ASSIGN(sandbox_, worker::Sandbox::start(options_));
    if (Result<std::vector<std::string>> ready = sandbox_->wait_ready(); !ready) {
      sandbox_.reset();
      if (!std::exchange(said_, true))
        log_warning("Results of workers that are not invited cannot be checked here: {}",
                    ready.error().message);
      return pass(std::move(ready));
    }
    WEFT_ASSIGN(const protocol::Capabilities capabilities, sandbox_->describe());
    vendor_ = capabilities.vendor;
    rate_ = std::clamp(capabilities.f32_gflop_per_s / 1000, 1e-4, 1000.0);
    return {};
  }
  std::shared_ptr<const exec::Job> exec_job(
      const std::shared_ptr<const coordinator::VerifiedJob>& job) {
    const auto found =
        std::ranges::find_if(jobs_, [&](const auto& each) { return each.first.lock() == job; });
    if (found != jobs_.end()) return found->second;
    auto made = std::make_shared<exec::Job>();
    made->manifest = *job->manifest;
    made->shader = job->shader;
    made->data = job->data;
    const std::uint64_t bytes = bytes_of(*made);
    if (sent_bytes_ + bytes > bounds_.sent_bytes_max) rest();
    sent_bytes_ += bytes;
    // Keeps copies of the data of several small jobs; the copy of the last job is always kept.
    jobs_.emplace_front(job, made);
    while (jobs_.size() > bounds_.copies_max ||
           (jobs_.size() > 1 && bytes_kept() > bounds_.copies_bytes_max))
      jobs_.pop_back();
    return made;
  }

  [[nodiscard]] static std::uint64_t bytes_of(const exec::Job& job) {
    std::uint64_t sum = 0;
    for (const ByteVector& bytes : job.data) sum += bytes.size();
    return sum;
  }
  [[nodiscard]] std::uint64_t bytes_kept() const {
    std::uint64_t sum = 0;
    for (const auto& [job, made] : jobs_) sum += bytes_of(*made);
    return sum;
  }

  const worker::Sandbox::Options options_;
  const std::vector<std::filesystem::path> drivers_;
  const PartRunnerBounds bounds_;
  std::unique_ptr<worker::Sandbox> sandbox_;
  std::string vendor_;
  double rate_ = 1;
  bool said_ = false;
  std::uint64_t sent_bytes_ = 0;  // Job data sent to the sandboxed process since its start.
  std::list<
      std::pair<std::weak_ptr<const coordinator::VerifiedJob>, std::shared_ptr<const exec::Job>>>
      jobs_;
};

}  // namespace

std::vector<std::filesystem::path> drivers_of_browsers() {
  std::vector<std::filesystem::path> files;
  for (const char* folder :
       {"/usr/lib/chromium", "/usr/lib64/chromium-browser", "/usr/lib/chromium-browser",
        "/opt/google/chrome", "/opt/chromium.org/chromium"})
    files.push_back(std::filesystem::path(folder) / "vk_swiftshader_icd.json");
  return files;
}

std::unique_ptr<coordinator::PartRunner> make_part_runner(
    worker::Sandbox::Options options, std::vector<std::filesystem::path> more_drivers,
    const PartRunnerBounds& bounds) {
  return std::make_unique<SandboxPartRunner>(std::move(options), std::move(more_drivers), bounds);
}

std::unique_ptr<coordinator::PartRunner> make_part_runner() {
  return make_part_runner({}, drivers_of_browsers());
}

}  // namespace weft::cli
