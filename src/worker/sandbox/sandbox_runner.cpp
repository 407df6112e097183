#include "worker/sandbox/sandbox_runner.h"

#include <algorithm>

#include "common/base/log.h"

namespace weft::worker {

SandboxRunner::SandboxRunner(Sandbox::Options options,
                             std::function<void(std::function<void()>)> post, const Bounds& bounds)
    : options_(std::move(options)),
      post_(std::move(post)),
      bounds_(bounds),
      thread_([this] { work(); }) {}

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

SandboxRunner::Processes SandboxRunner::processes() {
  const std::lock_guard lock(mutex_);
  return shared_.processes;
}

void SandboxRunner::note_processes() {
  Processes now;
  for (const Child& child : children_) now.of_clients.push_back(child.sandbox->pid());
  if (spare_) now.spare = spare_->pid();
  const std::lock_guard lock(mutex_);
  shared_.processes = std::move(now);
}

Result<> SandboxRunner::start_spare() {
  if (spare_ && spare_->alive()) return {};
  spare_.reset();
  WEFT_ASSIGN(spare_, Sandbox::start(options_));
  return {};
}

// Returns the client's own child, or the spare one for it. Then starts a new spare, which becomes
// ready while the child works.
Result<std::shared_ptr<Sandbox>> SandboxRunner::take_sandbox(const std::string& client) {
  std::erase_if(children_, [](const Child& child) { return !child.sandbox->alive(); });
  const std::string name = bounds_.child_per_client ? client : std::string();
  const auto own = std::ranges::find(children_, name, &Child::client);
  if (own != children_.end()) {
    std::rotate(own, own + 1, children_.end());
  } else {
    // Ends children until there is room for one more beside the spare.
    while (!children_.empty() && children_.size() + 1 >= bounds_.children_max)
      children_.pop_front();
    WEFT_OK(start_spare());
    std::shared_ptr<Sandbox> next = std::move(spare_);
    if (auto ready = next->wait_ready(); !ready) return pass(std::move(ready));
    children_.push_back({.client = name, .sandbox = std::move(next)});
  }
  if (const auto started = start_spare(); !started)
    log_debug("No sandbox is ready: {}", started.error().message);
  note_processes();
  return children_.back().sandbox;
}

Result<exec::Output> SandboxRunner::run_one(const TaskRun& task) {
  WEFT_ASSIGN(const std::shared_ptr<Sandbox> sandbox, take_sandbox(task.client));
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
    // The child that is started here remains the spare, because no client is known yet.
    const auto ready = [&]() -> Result<std::vector<std::string>> {
      WEFT_OK(start_spare());
      return spare_->wait_ready();
    }();
    auto capabilities =
        ready ? spare_->describe() : Result<protocol::Capabilities>(std::unexpected(ready.error()));
    if (ready) {
      for (const std::string& note : *ready) log_warning("The sandbox is not complete: {}.", note);
    }
    note_processes();
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
  // The children must be destroyed on the thread that started them.
  children_.clear();
  spare_.reset();
}

}  // namespace weft::worker
