#include "apps/bench/bench_established.h"

#include <algorithm>
#include <cstdio>
#include <thread>
#include <vector>

#include "apps/bench/attacks/cast.h"
#include "apps/bench/attacks/standing.h"
#include "apps/bench/bench_processes.h"
#include "apps/cli/api_client.h"
#include "apps/cli/installation.h"
#include "apps/cli/interruption.h"
#include "apps/cli/portable_manifest.h"
#include "common/base/clock.h"
#include "common/base/format.h"
#include "common/crypto/ordered_id.h"
#include "common/crypto/wallet.h"

namespace weft::cli {
namespace {

constexpr auto join_max = std::chrono::seconds(120);
constexpr auto look_every = std::chrono::milliseconds(500);
constexpr double say_every_seconds = 10;

class Network {
 public:
  explicit Network(const EstablishedOptions& options) : options_(options) {}

  Result<EstablishedTimes> run() {
    WEFT_OK(start());
    const auto measured = measure();
    if (!measured)
      return fail(measured.error().code, "{}\n{}", measured.error().message, server_->last_words());
    return measured;
  }

 private:
  Result<> start() {
    const auto data = options_.folder / "coordinator";
    WEFT_ASSIGN(cast_,
                coordinator::bench::cast_of(
                    {.clients = options_.clients, .workers = 0, .newcomers = 0}, nullptr, 0));
    WEFT_OK(coordinator::bench::leave_standings(data, cast_, {}));
    WEFT_ASSIGN(server_, CoordinatorProcess::start(data));
    // Makes the invitation's file readable for others, because workers do not use an invitation
    // that others could have read.
    std::error_code error;
    std::filesystem::permissions(data / "invite", std::filesystem::perms::others_read,
                                 std::filesystem::perm_options::add, error);
    if (error)
      return fail(ErrorCode::unavailable, "The invitation's file cannot be changed: {}.",
                  error.message());
    const std::string url = weft::format("http://127.0.0.1:{}", server_->port());
    WEFT_ASSIGN(api_, ApiClient::create({.url = url, .tls = {}}));
    WEFT_ASSIGN(operators_, crypto::load_wallet(data / "coordinator.json"));
    WEFT_OK(api_->read_as(*operators_));
    for (std::uint32_t i = 0; i < options_.workers; ++i) {
      const auto wallet = options_.folder / weft::format("worker-{}.json", i);
      WEFT_ASSIGN(
          auto worker,
          ChildProcess::start({.arguments = {own_executable().string(), "work", "--coordinator",
                                             url, "--wallet", wallet.string()},
                               .environment = {weft::format("XDG_CACHE_HOME={}",
                                                            (options_.folder / "cache").string())},
                               .on_line = {}}));
      workers_.push_back(std::move(worker));
    }
    const Instant give_up = now() + join_max;
    for (;;) {
      WEFT_ASSIGN(const auto all, api_->workers());
      if (all.workers.size() >= options_.workers) {
        for (const auto& each : all.workers) keys_.push_back(each.key);
        return {};
      }
      if (interrupted()) return fail(ErrorCode::cancelled, "Interrupted.");
      if (now() > give_up)
        return fail(ErrorCode::deadline_exceeded,
                    "Only {} of {} workers have joined the coordinator in time.\n"
                    "{}",
                    all.workers.size(), options_.workers, server_->last_words());
      std::this_thread::sleep_for(look_every);
    }
  }

  Result<EstablishedTimes> measure() {
    const auto example = installation_folder() / "examples/mandelbrot.json";
    WEFT_ASSIGN(const std::string manifest,
                portable_manifest(example, *api_, cast_.clients.front()));
    EstablishedTimes times;
    std::vector<std::string> running(options_.clients);
    const Instant start = now();
    double said = 0;
    for (;;) {
      const double passed = seconds(now() - start);
      for (std::uint32_t client = 0; client < options_.clients; ++client) {
        std::string& job = running[client];
        if (!job.empty()) {
          WEFT_ASSIGN(const auto view, api_->job(job));
          if (view.state == "running") continue;
          if (view.state != "done")
            return fail(ErrorCode::internal, "A job did not end as done but as {}: {}", view.state,
                        view.reason);
          ++times.jobs;
        }
        WEFT_ASSIGN(const auto submitted,
                    api_->submit(manifest, cast_.clients[client], crypto::ordered_id()));
        job = submitted.id;
      }
      times.established = 0;
      times.least = 1;
      for (const std::string& key : keys_) {
        WEFT_ASSIGN(const auto answer, api_->requests().get("/v1/stakes/" + key, *operators_));
        WEFT_ASSIGN(const auto its, coordinator::bench::read_standing(answer.body));
        times.established += its.established ? 1 : 0;
        times.least = std::min(times.least, its.reputation);
      }
      if (times.established > 0 && times.first == 0) times.first = passed;
      if (passed >= said + say_every_seconds) {
        said = passed;
        std::fprintf(stderr, "established: %u of %u after %.0f s, the least reputation is %.2f\n",
                     times.established, options_.workers, passed, times.least);
      }
      times.all = passed;
      if (times.established == options_.workers || passed > options_.seconds_max) return times;
      if (interrupted()) return fail(ErrorCode::cancelled, "Interrupted.");
      std::this_thread::sleep_for(look_every);
    }
  }

  const EstablishedOptions options_;
  coordinator::bench::Cast cast_;
  std::unique_ptr<CoordinatorProcess> server_;
  std::vector<std::unique_ptr<ChildProcess>> workers_;
  std::unique_ptr<ApiClient> api_;
  std::optional<crypto::KeyPair> operators_;
  std::vector<std::string> keys_;
};

}  // namespace

Result<EstablishedTimes> measure_established(const EstablishedOptions& options) {
  std::error_code error;
  std::filesystem::create_directories(options.folder, error);
  if (error)
    return fail(ErrorCode::unavailable, "The folder {} cannot be made: {}.",
                options.folder.string(), error.message());
  return Network(options).run();
}

}  // namespace weft::cli
