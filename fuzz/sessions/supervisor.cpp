#include "fuzz/sessions/supervisor.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <unistd.h>

#include <sys/resource.h>
#include <sys/wait.h>

#include "common/base/format.h"
#include "fuzz/sessions/busy.h"

namespace weft::sessions {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

struct Counts {
  std::uint64_t next_seed = 1;
  double cpu_seconds = 0;
  std::uint64_t histories = 0, events = 0, restarts = 0, plain = 0;
  std::vector<std::uint64_t> failed{};
};

Counts read_state(const fs::path& file, std::uint64_t seed) {
  Counts out{.next_seed = seed};
  std::ifstream in(file);
  for (std::string name; in >> name;) {
    if (name == "next_seed") in >> out.next_seed;
    if (name == "cpu_seconds") in >> out.cpu_seconds;
    if (name == "histories") in >> out.histories;
    if (name == "events") in >> out.events;
    if (name == "restarts") in >> out.restarts;
    if (name == "plain_jobs") in >> out.plain;
    if (name == "failed") in >> out.failed.emplace_back();
  }
  return out;
}

// Writes another file and renames it, so that the state is whole even if this run is ended while it
// writes.
void write_state(const fs::path& file, const Counts& counts) {
  if (file.empty()) return;
  const fs::path beside = file.string() + ".new";
  {
    std::ofstream out(beside);
    out << "next_seed " << counts.next_seed << "\ncpu_seconds " << counts.cpu_seconds
        << "\nhistories " << counts.histories << "\nevents " << counts.events << "\nrestarts "
        << counts.restarts << "\nplain_jobs " << counts.plain << "\n";
    for (const auto seed : counts.failed) out << "failed " << seed << "\n";
  }
  std::error_code ignored;
  fs::rename(beside, file, ignored);
}

volatile std::sig_atomic_t interrupted = 0;

class Supervisor {
 public:
  explicit Supervisor(const RunOptions& options)
      : options_(options),
        counts_(read_state(options.state, options.seed)),
        replay_(options.replay.begin(), options.replay.end()) {}

  int run() {
    expect_histories(options_.jobs);
    struct sigaction action{};
    action.sa_handler = [](int) { interrupted = 1; };
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    const auto begun = Clock::now();
    const auto goes_on = [&] {
      return interrupted == 0 &&
             (!replay_.empty() ||
              std::chrono::duration<double>(Clock::now() - begun).count() < options_.seconds);
    };
    while (goes_on() || !running_.empty()) {
      while (goes_on() && running_.size() < options_.jobs) start();
      reap();
      std::this_thread::sleep_for(5ms);
    }
    write_state(options_.state, counts_);
    std::string failed;
    for (const auto seed : counts_.failed) failed += weft::format(" {}", seed);
    std::printf(
        "%llu histories, %llu events, %llu restarts, %llu plain jobs done, %.0f CPU-seconds, "
        "%zu failures%s%s\n",
        static_cast<unsigned long long>(counts_.histories),
        static_cast<unsigned long long>(counts_.events),
        static_cast<unsigned long long>(counts_.restarts),
        static_cast<unsigned long long>(counts_.plain), counts_.cpu_seconds, counts_.failed.size(),
        failed.empty() ? "" : ": seeds", failed.c_str());
    return counts_.failed.empty() ? 0 : 1;
  }

 private:
  struct Running {
    std::uint64_t seed = 0;
    fs::path log;
    Clock::time_point begun;
    bool hangs = false;
  };

  void start() {
    std::uint64_t seed = 0;
    if (!replay_.empty()) {
      seed = replay_.front();
      replay_.pop_front();
    } else {
      seed = counts_.next_seed++;
    }
    const fs::path log =
        fs::temp_directory_path() / weft::format("weft-history-{}-{}.log", getpid(), seed);
    const char* given = std::getenv("WEFT_SESSIONS_SELF");
    const std::string self =
        given != nullptr ? std::string(given) : fs::read_symlink("/proc/self/exe").string();
    const std::string text = std::to_string(seed);
    const pid_t process = fork();
    if (process == 0) {
      setpgid(0, 0);
      const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
      dup2(file, 1);
      dup2(file, 2);
      execl(self.c_str(), self.c_str(), "--history", text.c_str(), nullptr);
      _exit(127);
    }
    running_[process] = {.seed = seed, .log = log, .begun = Clock::now()};
  }

  void reap() {
    const double most = options_.history_seconds_max * busy();
    for (auto& [process, history] : running_) {
      const double age = std::chrono::duration<double>(Clock::now() - history.begun).count();
      if (age > most && !history.hangs) {
        history.hangs = true;
        kill(-process, SIGABRT);
      }
      if (age > most + 10) kill(-process, SIGKILL);
    }
    int status = 0;
    rusage used{};
    for (pid_t process = 0; (process = wait4(-1, &status, WNOHANG, &used)) > 0;) {
      const auto found = running_.find(process);
      if (found == running_.end()) continue;
      kill(-process, SIGKILL);  // Ends the processes that the ended history left.
      ended(found->second, status, used);
      running_.erase(found);
      write_state(options_.state, counts_);
    }
  }

  void ended(const Running& history, int status, const rusage& used) {
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    counts_.cpu_seconds += seconds(used.ru_utime) + seconds(used.ru_stime);
    ++counts_.histories;
    std::ostringstream log;
    log << std::ifstream(history.log).rdbuf();
    const std::string said = log.str();
    std::uint64_t events = 0, restarts = 0, plain = 0;
    if (const auto at = said.rfind("history "); at != std::string::npos) {
      std::istringstream line(said.substr(at + 8));
      line >> events >> restarts >> plain;
    }
    counts_.events += events;
    counts_.restarts += restarts;
    counts_.plain += plain;
    std::error_code ignored;
    fs::remove(history.log, ignored);
    if (!history.hangs && WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    counts_.failed.push_back(history.seed);
    std::fprintf(stderr, "The history of seed %llu failed%s (--history %llu):\n%s\n",
                 static_cast<unsigned long long>(history.seed), history.hangs ? ": it hangs" : "",
                 static_cast<unsigned long long>(history.seed), said.substr(0, 4000).c_str());
    if (options_.keep.empty()) return;
    fs::create_directories(options_.keep, ignored);
    const std::string name = weft::format("{}", history.seed);
    std::ofstream(options_.keep / (name + ".seed")) << history.seed << "\n";
    std::ofstream(options_.keep / (name + ".log")) << said;
  }

  const RunOptions options_;
  Counts counts_;
  std::deque<std::uint64_t> replay_;
  std::map<pid_t, Running> running_;
};

}  // namespace

int run_histories(const RunOptions& options) { return Supervisor(options).run(); }

}  // namespace weft::sessions
