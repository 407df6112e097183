#include "apps/worker/shader_checker.h"

#include <future>

namespace weft::worker {

ShaderChecker::ShaderChecker(Sandbox::Options options) : options_(std::move(options)), thread_([this] { work(); }) {}

ShaderChecker::~ShaderChecker() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
}

Result<> ShaderChecker::check(const manifest::Manifest& manifest, std::string shader) {
  if (manifest.kind == manifest::Kind::kernel) return {};
  std::promise<Result<>> answer;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return fail(ErrorCode::unavailable, "The coordinator is stopping.");
    if (requests_.size() >= waiting_max)
      return fail(ErrorCode::resource_exhausted, "{} shaders are waiting to be checked; try again later.", waiting_max);
    requests_.push_back({.job = {.manifest = manifest, .shader = std::move(shader), .data = {}},
                         .done = [&](Result<> result) { answer.set_value(std::move(result)); }});
  }
  changed_.notify_all();
  return answer.get_future().get();
}

Result<> ShaderChecker::check_one(std::unique_ptr<Sandbox>& sandbox, const exec::Job& job) {
  if (!sandbox || !sandbox->alive()) {
    WEFT_ASSIGN(sandbox, Sandbox::start(options_));
    // A machine without a GPU says nothing about the shader.
    if (auto ready = sandbox->wait_ready(); !ready)
      return fail(ErrorCode::unavailable, "This machine cannot check shaders: {}", ready.error().message);
  }
  return sandbox->check(job);
}

void ShaderChecker::work() {
  std::unique_ptr<Sandbox> sandbox;  // Ends with the thread that started it.
  for (;;) {
    Request request;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait_for(lock, std::chrono::minutes(1), [&] { return stopping_ || !requests_.empty(); })) {
        lock.unlock();
        sandbox.reset();
        continue;
      }
      if (requests_.empty()) return;  // Stopping, and everybody has an answer.
      request = std::move(requests_.front());
      requests_.pop_front();
      if (stopping_) {
        lock.unlock();
        request.done(fail(ErrorCode::unavailable, "The coordinator is stopping."));
        continue;
      }
    }
    request.done(check_one(sandbox, request.job));
  }
}

}  // namespace weft::worker
