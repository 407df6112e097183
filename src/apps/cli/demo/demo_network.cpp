#include "apps/cli/demo/demo_network.h"

#include <algorithm>
#include <csignal>
#include <thread>

#include "apps/cli/demo/chromium.h"
#include "apps/cli/installation.h"
#include "apps/cli/interruption.h"
#include "common/base/format.h"
#include "common/crypto/wallet.h"

namespace weft::cli {
namespace {

constexpr std::size_t lines_kept = 200;
constexpr auto coordinator_start_max = std::chrono::seconds(20);
constexpr auto workers_start_max = std::chrono::seconds(60);
constexpr const char* grant_credits = "10000";

}  // namespace

Result<std::unique_ptr<DemoNetwork>> DemoNetwork::start(const Options& options) {
  std::unique_ptr<DemoNetwork> network(new DemoNetwork);
  WEFT_OK(network->start_coordinator(options.listen));
  WEFT_ASSIGN(network->api_, ApiClient::create({.url = network->url_, .tls = {}}));
  // Reads as the operator, which sees all data of the report.
  WEFT_ASSIGN(const crypto::KeyPair operators,
              crypto::load_wallet(network->folder() / "coordinator" / "coordinator.json"));
  WEFT_OK(network->api_->read_as(operators));
  for (std::size_t i = 0; i < options.native_workers; ++i) WEFT_OK(network->start_native_worker(i));
  if (options.browser) WEFT_OK(network->start_browser());
  if (Result<> joined =
          network->wait_for_workers(options.native_workers + (options.browser ? 1 : 0));
      !joined) {
    if (joined.error().code == ErrorCode::cancelled) return std::unexpected(joined.error());
    return fail(joined.error().code, "{}\n{}", joined.error().message, network->last_words());
  }
  return network;
}

DemoNetwork::~DemoNetwork() {
  api_.reset();
  // Stops the workers before the coordinator, so that they can sign off.
  stop_browser();
  for (const auto& worker : native_workers_) worker->stop(std::chrono::seconds(3));
  if (coordinator_) coordinator_->stop(std::chrono::seconds(5));
}

std::function<void(std::string_view)> DemoNetwork::listen_to(std::string name) {
  return [log = log_, name = std::move(name)](std::string_view line) {
    log->with([&](Log& kept) {
      if (kept.lines.size() == lines_kept) kept.lines.erase(kept.lines.begin());
      kept.lines.push_back(weft::format("{:12} {}", name, line));
      const std::size_t url = line.find("http://");
      if (name == "coordinator" && kept.url.empty() && url != std::string_view::npos) {
        kept.url = line.substr(url, line.find_first_of(" \t", url) - url);
        while (kept.url.ends_with('/')) kept.url.pop_back();
      }
    });
  };
}

Result<> DemoNetwork::start_coordinator(const std::string& listen) {
  WEFT_ASSIGN(coordinator_,
              ChildProcess::start(
                  {.arguments = {own_executable().string(), "serve", "--listen", listen, "--data",
                                 (folder() / "coordinator").string(), "--grant", grant_credits},
                   .environment = {},
                   .on_line = listen_to("coordinator")}));
  const Instant give_up = now() + coordinator_start_max;
  while (url_.empty()) {
    url_ = log_->with([](Log& log) { return log.url; });
    if (interrupted()) return fail(ErrorCode::cancelled, "Interrupted.");
    if (!coordinator_->running())
      return fail(ErrorCode::unavailable, "The coordinator ended at its start.\n{}", last_words());
    if (now() > give_up)
      return fail(ErrorCode::deadline_exceeded, "The coordinator did not start.\n{}", last_words());
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return {};
}

Result<> DemoNetwork::start_native_worker(std::size_t index) {
  const std::filesystem::path wallet = folder() / weft::format("worker{}.json", index);
  WEFT_ASSIGN(const crypto::KeyPair key, crypto::create_wallet(wallet));
  native_keys_.push_back(key.public_key().text());
  WEFT_ASSIGN(
      auto worker,
      ChildProcess::start({.arguments = {own_executable().string(), "work", "--coordinator", url_,
                                         "--wallet", wallet.string(), "--model-memory-mb",
                                         "0"},  // The models of the demo are served by tabs only.
                           .environment = {},
                           .on_line = listen_to(weft::format("native {}", index + 1))}));
  native_workers_.push_back(std::move(worker));
  return {};
}

Result<> DemoNetwork::start_browser() {
  WEFT_ASSIGN(browser_, start_chromium({.url = url_ + "/?start=1",
                                        .profile = folder() / "chromium",
                                        .on_line = listen_to("chromium")}));
  return {};
}

Result<> DemoNetwork::wait_for_workers(std::size_t count) {
  const Instant give_up = now() + workers_start_max;
  for (;;) {
    WEFT_ASSIGN(const protocol::api::Workers workers, api_->workers());
    const auto joined = static_cast<std::size_t>(std::ranges::count_if(
        workers.workers, [](const auto& worker) { return worker.connected; }));
    if (interrupted()) return fail(ErrorCode::cancelled, "Interrupted.");
    if (joined >= count) return {};
    if (now() > give_up)
      return fail(ErrorCode::deadline_exceeded, "Only {} of {} workers joined.", joined, count);
    sleep_unless_interrupted(std::chrono::milliseconds(50));
  }
}

std::string DemoNetwork::kill_native_worker(std::size_t index) {
  native_workers_[index]->signal(SIGKILL);
  return native_keys_[index];
}

void DemoNetwork::stop_browser() {
  if (browser_) browser_->stop(std::chrono::milliseconds(500));
  browser_.reset();
}

std::string DemoNetwork::last_words() {
  return log_->with([](const Log& log) {
    std::string text;
    const std::size_t first = log.lines.size() > 40 ? log.lines.size() - 40 : 0;
    for (std::size_t i = first; i < log.lines.size(); ++i) text += log.lines[i] + "\n";
    return text;
  });
}

}  // namespace weft::cli
