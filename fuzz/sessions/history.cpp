#include "fuzz/sessions/history.h"

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "common/base/format.h"
#include "common/protocol/api.h"
#include "fuzz/sessions/busy.h"
#include "fuzz/sessions/checks.h"
#include "fuzz/sessions/clients.h"
#include "fuzz/sessions/servers.h"
#include "fuzz/sessions/work.h"
#include "fuzz/sessions/workers.h"
#include "fuzz/sessions/world.h"

namespace weft::sessions {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "weft-session-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  Folder(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

class History {
 public:
  explicit History(std::uint64_t seed) : world_(seed, folder_.path()), clients_(world_) {
    for (std::size_t i = 0; i < world_.workers.size(); ++i)
      workers_.push_back(std::make_unique<Worker>(world_, i));
    for (std::size_t i = 0; i < 4; ++i)
      servers_.push_back(std::make_unique<Server>(world_, *workers_[i], i % 2 == 0));
    world_.other_files = [this](std::vector<int>& files) {
      for (const auto& each : workers_) files.push_back(each->file());
      for (const auto& each : servers_) files.push_back(each->file());
      for (const auto& each : watchers_) files.push_back(each->line.file());
    };
  }

  Outcome run() {
    if (world_.start()) {
      clients_.begin();
      act();
      if (world_.trouble.empty()) end();
    }
    return {.events = world_.events,
            .restarts = restarts_,
            .plain_jobs = plain_jobs_,
            .counts = world_.counts,
            .trouble = world_.trouble};
  }

 private:
  // The last two workers are honest from the start.
  [[nodiscard]] Worker::Conduct conduct(std::size_t worker) const {
    return worker + 2 >= workers_.size() || settles_ ? Worker::Conduct::honest
                                                     : Worker::Conduct::any;
  }

  void act() {
    auto& random = world_.random;
    const std::size_t steps = 150 + random.below(500);
    for (std::size_t step = 0; step < steps && world_.trouble.empty(); ++step) {
      const std::size_t which = random.below(1000);
      if (which < 400) {
        clients_.act();
      } else if (which < 700) {
        const std::size_t i = random.below(workers_.size());
        workers_[i]->act(conduct(i));
      } else if (which < 960) {
        random.pick(servers_)->act();
      } else if (which < 990) {
        watch();
      } else if (which < 993) {
        restart();
      } else {
        turn(std::chrono::milliseconds(50 + random.below(400)));
      }
      turn(std::chrono::milliseconds(random.below(4)));
      check_process();
    }
  }

  void turn(std::chrono::milliseconds wait) {
    world_.pump(wait);
    for (std::size_t i = 0; i < workers_.size(); ++i) workers_[i]->pump(conduct(i));
    for (const auto& each : servers_) each->pump();
    std::erase_if(watchers_, [&](const auto& each) {
      return !each->pump(world_.random, [&](const std::string& text) { seen(*each, text); });
    });
  }

  void watch() {
    constexpr std::size_t watchers_max = 20;
    if (watchers_.size() >= watchers_max) watchers_.erase(watchers_.begin());
    ++world_.events;
    watchers_.push_back(std::make_unique<WebSocket>(world_.coordinator.at(),
                                                    world_.address(world_.random.below(30)),
                                                    "/v1/watch", world_.host()));
  }
  void seen(WebSocket& socket, const std::string& text) {
    auto& random = world_.random;
    const auto at = text.find("\"sequence\":");
    if (at == std::string::npos || random.chance(40)) return;
    const auto from = at + 11;
    const auto number = text.substr(from, text.find_first_not_of("0123456789", from) - from);
    socket.send_text(
        weft::format(R"({{"type":"seen","sequence":{}}})", random.chance(95) ? number : "-1"),
        random);
  }

  void check_process() {
    if (const auto end = world_.coordinator.end(); !end.empty()) world_.fail(end);
  }

  // Stops the coordinator in order, or kills it, and starts it again.
  void restart() {
    ++restarts_;
    ++world_.events;
    check_process();
    if (!world_.trouble.empty()) return;
    if (world_.random.chance(50)) {
      if (const auto wrong = world_.coordinator.stop(); !wrong.empty()) return world_.fail(wrong);
    } else {
      world_.coordinator.kill();
    }
    turn(0ms);
    world_.forget_requests();
    for (const auto& each : workers_) each->forget();
    for (const auto& each : servers_) each->leave();
    watchers_.clear();
    world_.responses.clear();
    check_store(world_);
    if (world_.trouble.empty()) (void)world_.start();
  }

  // Ends the history: most hostile parties leave, and then a plain job of an honest client must be
  // accepted and done.
  void end() {
    settles_ = true;
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      if (world_.random.chance(60)) workers_[i]->leave();
    }
    for (const auto& each : servers_) {
      if (world_.random.chance(60)) each->leave();
    }
    const Nonce nonce = world_.nonce();
    const auto answer =
        world_.ask_now(world_.sign(world_.plain,
                                   {.method = "POST",
                                    .target = "/v1/jobs",
                                    .headers = {{"content-type", "application/json"}},
                                    .body = plain_manifest(3, 1)},
                                   nonce),
                       world_.address(102));
    if (!answer) {
      check_process();
      return world_.fail("A plain job was not answered in time.");
    }
    if (answer->status == 202) {
      finish(protocol::api::from_json<protocol::api::Submitted>(answer->body)->id, nonce);
    } else if (answer->status == 402) {
      world_.fail("A plain job was refused: " + answer->body);
    }
    check_process();
    if (world_.trouble.empty()) check_ledger(world_);
    if (!world_.trouble.empty()) return;
    turn(0ms);
    if (const auto wrong = world_.coordinator.stop(); !wrong.empty()) world_.fail(wrong);
    turn(0ms);  // Reads the last acknowledgements.
    if (world_.trouble.empty()) check_store(world_);
  }

  void finish(const std::string& id, const Nonce& nonce) {
    auto manifest = manifest::parse(plain_manifest(3, 1)).value();
    world_.jobs.push_back({.id = id,
                           .link = "",
                           .client = world_.clients.size(),
                           .nonce = nonce,
                           .text = plain_manifest(3, 1),
                           .manifest = std::make_shared<const manifest::Manifest>(manifest)});
    const Instant give_up = now() + 60s * busy();
    // Honest workers send heartbeats while the fuzzer waits for an answer.
    world_.meanwhile = [this, beaten = now()]() mutable {
      if (now() - beaten < 200ms) return;
      beaten = now();
      for (std::size_t i = 0; i < workers_.size(); ++i) {
        workers_[i]->pump(conduct(i));
        workers_[i]->act(conduct(i));
      }
    };
    std::string state = "running", told;
    while (state == "running" && now() < give_up && world_.coordinator.end().empty()) {
      for (std::size_t i = 0; i < workers_.size(); ++i) workers_[i]->act(conduct(i));
      for (int i = 0; i < 10; ++i) turn(10ms);
      const auto answer = world_.ask_now(world_.sign(world_.plain, {.target = "/v1/jobs/" + id}),
                                         world_.address(102));
      if (!answer || answer->status != 200) continue;
      told = answer->body;
      if (const auto job = protocol::api::from_json<protocol::api::Job>(told)) state = job->state;
    }
    world_.meanwhile = {};
    check_process();
    if (state != "done")
      return world_.fail("A plain job with honest workers is not done in time: " + told);
    const auto output =
        world_.ask_now(world_.sign(world_.plain, {.target = "/v1/jobs/" + id + "/outputs/0"}),
                       world_.address(102));
    const ByteVector right = right_bytes(manifest, 0, {.first = 0, .count = 12});
    if (!output || output->body != as_text(right))
      world_.fail("The output of a plain job is not right.");
    ++plain_jobs_;
  }

  Folder folder_;
  World world_;
  Clients clients_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<Server>> servers_;
  std::vector<std::unique_ptr<WebSocket>> watchers_;
  std::size_t restarts_ = 0, plain_jobs_ = 0;
  bool settles_ = false;
};

}  // namespace

Outcome run_history(std::uint64_t seed) { return History(seed).run(); }

}  // namespace weft::sessions
