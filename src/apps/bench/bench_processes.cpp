#include "apps/bench/bench_processes.h"

#include <charconv>
#include <cmath>
#include <csignal>
#include <fstream>
#include <thread>
#include <unistd.h>

#include "apps/cli/installation.h"
#include "common/base/clock.h"
#include "common/base/format.h"

namespace weft::cli {
namespace {

constexpr std::size_t lines_kept = 20;
constexpr auto start_max = std::chrono::seconds(60);
constexpr auto watch_every = std::chrono::milliseconds(50);

}  // namespace

Result<std::unique_ptr<CoordinatorProcess>> CoordinatorProcess::start(
    const std::filesystem::path& data, const std::vector<std::string>& more, Bounds bounds) {
  std::unique_ptr<CoordinatorProcess> server(new CoordinatorProcess);
  const auto on_line = [log = server->log_](std::string_view line) {
    log->with([&](Log& kept) {
      if (kept.lines.size() == lines_kept) kept.lines.erase(kept.lines.begin());
      kept.lines.emplace_back(line);
      const std::size_t at = line.find("http://127.0.0.1:");
      if (kept.port == 0 && at != std::string_view::npos)
        std::from_chars(line.data() + at + 17, line.data() + line.size(), kept.port);
    });
  };
  std::vector<std::string> arguments{own_executable().string(),
                                     "serve",
                                     "--listen",
                                     "127.0.0.1:0",
                                     "--data",
                                     data.string(),
                                     "--grant",
                                     "1000000000",
                                     "--jobs-max",
                                     "2000000",
                                     "--jobs-per-client",
                                     "1000000",
                                     "--tasks-per-client",
                                     "1000000000"};
  if (bounds == Bounds::none)
    arguments.insert(arguments.end(),
                     {"--rate-limit", "1000000", "--connections-per-address", "1000000"});
  arguments.insert(arguments.end(), more.begin(), more.end());
  WEFT_ASSIGN(server->process_,
              ChildProcess::start(
                  {.arguments = std::move(arguments), .environment = {}, .on_line = on_line}));
  server->watch_ = std::jthread([process = server->process_.get()](const std::stop_token& stop) {
    while (!stop.stop_requested() && !interrupted()) std::this_thread::sleep_for(watch_every);
    if (interrupted()) process->signal(SIGKILL);
  });
  const Instant give_up = now() + start_max;
  while (server->port_ == 0) {
    server->port_ = server->log_->with([](Log& log) { return log.port; });
    if (!server->process_->running() || now() > give_up)
      return fail(ErrorCode::unavailable,
                  "The coordinator did not start. Its last output:\n"
                  "{}",
                  server->last_words());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return server;
}

CoordinatorProcess::~CoordinatorProcess() {
  watch_ = {};
  if (process_) process_->stop(std::chrono::seconds(10));
}

double CoordinatorProcess::resident_kib() const {
  std::ifstream file(weft::format("/proc/{}/statm", process_->pid()));
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  file >> all >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1024;
}

double CoordinatorProcess::resident_kib_peak() const {
  std::ifstream file(weft::format("/proc/{}/status", process_->pid()));
  for (std::string word; file >> word;) {
    double kib = 0;
    if (word == "VmHWM:" && file >> kib) return kib;
  }
  return 0;
}

std::string CoordinatorProcess::last_words() {
  return log_->with([](Log& log) {
    std::string text;
    for (const auto& line : log.lines) text += line + "\n";
    return text;
  });
}

PeerProcess::PeerProcess(std::string name, std::filesystem::path folder)
    : name_(std::move(name)), folder_(std::move(folder)) {}

PeerProcess::~PeerProcess() {
  if (started_) (void)call({"stop", folder_.string()});
}

Result<double> PeerProcess::measure(std::uint32_t connections, double seconds) {
  if (!trouble_.empty()) return fail(ErrorCode::unavailable, "{}", trouble_);
  auto measured = [&]() -> Result<double> {
    if (!started_) {
      WEFT_OK(call({"start", folder_.string()}));
      started_ = true;
    }
    WEFT_ASSIGN(const std::string text,
                call({"measure", folder_.string(), std::to_string(connections),
                      std::to_string(std::max(1L, std::lround(seconds)))}));
    double rate = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), rate).ec != std::errc() ||
        rate <= 0)
      return fail(ErrorCode::unavailable,
                  "The script {}.sh prints \"{}\"; it must print a rate above 0.", name_, text);
    return rate;
  }();
  if (!measured) trouble_ = measured.error().message;
  return measured;
}

// Runs the peer's script and returns the last line that it prints.
Result<std::string> PeerProcess::call(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(),
                   (installation_folder() / "bench/peers" / (name_ + ".sh")).string());
  const auto last = std::make_shared<Guarded<std::string>>();
  int status = 0;
  {
    WEFT_ASSIGN(
        const auto process,
        ChildProcess::start(
            {.arguments = arguments, .environment = {}, .on_line = [last](std::string_view line) {
               last->with([&](std::string& kept) { kept = line; });
             }}));
    // Only a measurement is interrupted. A peer that is half started or half stopped would keep
    // running after this process.
    const bool breakable = arguments.at(1) == "measure";
    while (process->running() && !(breakable && interrupted()))
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    status = process->stop(std::chrono::seconds(1));
  }
  std::string text = last->with([](const std::string& kept) { return kept; });
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return fail(ErrorCode::unavailable, "{}: {}", name_, text.empty() ? "fails" : text);
  return text;
}

}  // namespace weft::cli
