#include "apps/cli/commands/shader_check.h"

#include <array>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_set>

#include "apps/cli/commands/check_turns.h"
#include "common/base/guarded.h"
#include "common/base/log.h"
#include "common/crypto/sha256.h"
#include "worker/sandbox/sandbox.h"

namespace weft::cli {
namespace {

constexpr Duration check_max = std::chrono::seconds(2);
constexpr std::size_t children = 2;

// Parses "LINE:COLUMN: MESSAGE", the form of an error of gpu::Device::create_pipeline.
coordinator::ShaderComplaint complaint_from(const std::string& message) {
  coordinator::ShaderComplaint complaint{.message = message};
  const char* const end = message.data() + message.size();
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  const auto [after_line, line_error] = std::from_chars(message.data(), end, line);
  if (line_error != std::errc() || after_line == end || *after_line != ':') return complaint;
  const auto [after_column, column_error] = std::from_chars(after_line + 1, end, column);
  if (column_error != std::errc()) return complaint;
  std::string_view rest(after_column, end);
  rest.remove_prefix(std::min(rest.size(), rest.find_first_not_of(": ")));
  return {.line = line, .column = column, .message = std::string(rest)};
}

// A sandboxed child and the thread that owns it. The thread lives as long as the child, because the
// kernel ends a child with the thread that started it.
class CheckThread {
 public:
  CheckThread() : thread_([this](const std::stop_token& stop) { serve(stop); }) {}

  Result<> check(exec::Job job) {
    Order order{.job = std::move(job), .result = {}};
    std::future<Result<>> result = order.result.get_future();
    {
      const std::lock_guard lock(mutex_);
      if (orders_.size() >= orders_max)
        return fail(ErrorCode::resource_exhausted,
                    "{} shaders already wait to be checked; try again in a moment.", orders_max);
      orders_.push_back(std::move(order));
    }
    changed_.notify_one();
    return result.get();
  }

 private:
  struct Order {
    exec::Job job;
    std::promise<Result<>> result;
  };
  static constexpr std::size_t orders_max = 256;

  void serve(const std::stop_token& stop) {
    std::unique_ptr<worker::Sandbox> sandbox;
    for (;;) {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return !orders_.empty(); })) return;
      Order order = std::move(orders_.front());
      orders_.pop_front();
      lock.unlock();
      order.result.set_value(check_in(sandbox, order.job));
    }
  }

  // Checks a job in the child process, which is restarted if it was lost. A child that can never
  // start is logged once.
  Result<> check_in(std::unique_ptr<worker::Sandbox>& sandbox, const exec::Job& job) {
    if (!sandbox || !sandbox->alive()) {
      WEFT_ASSIGN(sandbox, worker::Sandbox::start({.load_max = check_max}));
      if (Result<std::vector<std::string>> ready = sandbox->wait_ready(); !ready) {
        if (!std::exchange(said_, true))
          log_warning("Shaders cannot be checked at submission: {}", ready.error().message);
        return pass(std::move(ready));
      }
    }
    auto checked = sandbox->check(job);
    // The device was available before, so the shader has crashed the child.
    if (!checked && checked.error().code == ErrorCode::unavailable)
      checked.error().code = ErrorCode::device_lost;
    return checked;
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Order> orders_;
  bool said_ = false;    // Used only by thread_.
  std::jthread thread_;  // The last member, so that the thread starts after all others exist.
};

// The hash of everything that is compiled: without the fields in which jobs of one shader differ.
Hash name_of(const manifest::Manifest& manifest, std::string_view shader) {
  manifest::Manifest compiled = manifest;
  compiled.name = "x";
  compiled.shader = manifest::Blob{crypto::sha256(as_bytes(shader))};
  for (auto& binding : compiled.bindings) {
    if (!std::holds_alternative<std::monostate>(binding.data)) binding.data = manifest::Blob{};
  }
  compiled.verify = {};
  compiled.priority = 0;
  compiled.deadline_s = 0;
  compiled.budget = 0;
  return crypto::sha256(as_bytes(manifest::to_json(compiled)));
}

// Shaders that are known to compile, so that a shader is compiled once for all its jobs.
class Known {
 public:
  [[nodiscard]] bool contains(const Hash& name) const {
    return names_.with([&](const auto& names) { return names.contains(name); });
  }
  void add(const Hash& name) {
    names_.with([&](auto& names) {
      if (names.size() >= names_max) names.clear();
      names.insert(name);
    });
  }

 private:
  static constexpr std::size_t names_max = 4096;
  Guarded<std::unordered_set<Hash>> names_;
};

// Several children, each with a thread of its own. A check goes to the thread with the fewest
// waiting checks.
class CheckThreads {
 public:
  Result<> check(exec::Job job) {
    const std::size_t turn = next_.fetch_add(1);
    return threads_[turn % children].check(std::move(job));
  }

 private:
  std::atomic<std::size_t> next_ = 0;
  std::array<CheckThread, children> threads_;
};

}  // namespace

coordinator::ShaderChecker make_shader_checker() {
  const auto threads = std::make_shared<CheckThreads>();
  return shader_checker_with(
      [threads](const manifest::Manifest& manifest, std::string_view shader) {
        exec::Job job;
        job.manifest = manifest;
        job.shader = shader;
        job.data.resize(manifest.bindings.size());
        return threads->check(std::move(job));
      });
}

coordinator::ShaderChecker shader_checker_with(CompileShader compile, ShaderCheckLimits limits) {
  const auto known = std::make_shared<Known>();
  const auto turns = std::make_shared<CheckTurns>(limits.waiting_per_asker);
  return [compile = std::move(compile), known, turns](const manifest::Manifest& manifest,
                                                      std::string_view shader,
                                                      const coordinator::ShaderAsker& asker)
             -> Result<std::vector<coordinator::ShaderComplaint>> {
    const Hash name = name_of(manifest, shader);
    if (known->contains(name)) return std::vector<coordinator::ShaderComplaint>{};
    // Simultaneous jobs with one new shader share one check.
    const Result<> checked = turns->share(name, asker, [&] { return compile(manifest, shader); });
    if (checked) {
      known->add(name);
      return std::vector<coordinator::ShaderComplaint>{};
    }
    switch (checked.error().code) {
      case ErrorCode::invalid_argument:
        return std::vector{complaint_from(checked.error().message)};
      case ErrorCode::unavailable:         // This machine has no device.
      case ErrorCode::resource_exhausted:  // Other checks of this client already wait.
        return std::unexpected(checked.error());
      default:
        return fail(ErrorCode::invalid_argument,
                    "The shader could not be checked, so the job is not accepted: {}",
                    checked.error().message);
    }
  };
}

}  // namespace weft::cli
