#include "worker/sandbox/sandbox_runner.h"

#include "common/base/log.h"

namespace weft::worker {

SandboxRunner::SandboxRunner(Sandbox::Options options,
                             std::function<void(std::function<void()>)> post)
    : options_(std::move(options)), post_(std::move(post)), thread_([this] { work(); }) {}

SandboxRunner::~SandboxRunner() {
  {
    const std::lock_guard lock(mutex_);
    shared_.stopping = true;
    if (shared_.current) shared_.current->kill();
  }
  changed_.notify_all();
}

Result<protocol::Capabilities> SandboxRunner::describe() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return described_.has_value(); });
  return *described_;
}

void SandboxRunner::run(TaskRun task, std::function<void(Result<exec::Output>)> done) {
  {
    const std::lock_guard lock(mutex_);
    shared_.request = Request{.task = std::move(task), .done = std::move(done)};
    shared_.cancelled = false;
  }
  changed_.notify_all();
}

void SandboxRunner::cancel() {
  const std::lock_guard lock(mutex_);
  shared_.cancelled = true;
  if (shared_.current) shared_.current->kill();
}

// The one that works, or the spare, or a new one; and a new spare, which gets ready while this one
// works.
Result<std::shared_ptr<Sandbox>> SandboxRunner::take_sandbox() {
  if (!current_ || !current_->alive()) {
    std::unique_ptr<Sandbox> next = std::move(spare_);
    if (!next) {
      WEFT_ASSIGN(next, Sandbox::start(options_));
    }
    current_ = std::move(next);
    if (auto ready = current_->wait_ready(); !ready) return pass(std::move(ready));
  }
  if (!spare_ || !spare_->alive()) {
    if (auto started = Sandbox::start(options_)) spare_ = std::move(*started);
  }
  return current_;
}

Result<exec::Output> SandboxRunner::run_one(const TaskRun& task) {
  WEFT_ASSIGN(const std::shared_ptr<Sandbox> sandbox, take_sandbox());
  {
    const std::lock_guard lock(mutex_);
    if (shared_.cancelled || shared_.stopping)
      return fail(ErrorCode::cancelled, "The task was cancelled.");
    shared_.current = sandbox;
  }
  auto output = sandbox->run(task);
  const std::lock_guard lock(mutex_);
  shared_.current = nullptr;
  return output;
}

void SandboxRunner::work() {
  {
    auto sandbox = take_sandbox();
    auto capabilities =
        sandbox ? (*sandbox)->describe() : Result<protocol::Capabilities>(pass(std::move(sandbox)));
    if (capabilities) {
      const auto missing = current_->wait_ready();
      for (const std::string& note : *missing)
        log_warning("The sandbox is not complete: {}.", note);
    }
    const std::lock_guard lock(mutex_);
    described_ = std::move(capabilities);
  }
  changed_.notify_all();
  for (;;) {
    Request request;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return shared_.request.has_value() || shared_.stopping; });
      if (shared_.stopping) break;
      request = *std::exchange(shared_.request, std::nullopt);
    }
    Result<exec::Output> output = run_one(request.task);
    post_([done = std::move(request.done), output = std::move(output)]() mutable {
      done(std::move(output));
    });
  }
  // Children end with the thread that started them.
  current_.reset();
  spare_.reset();
}

}  // namespace weft::worker
