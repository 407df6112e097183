#include "apps/cli/commands/work.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>
#include <ranges>
#include <signal.h>
#include <thread>

#include <sys/wait.h>

#include "apps/cli/api_client.h"
#include "apps/cli/child_process.h"
#include "apps/cli/exit_code.h"
#include "apps/cli/installation.h"
#include "apps/cli/interruption.h"
#include "apps/cli/known_coordinators.h"
#include "common/base/clock.h"
#include "common/base/format.h"
#include "common/base/log.h"
#include "common/crypto/wallet.h"
#include "common/protocol/digests.h"
#include "engine/gpu/backend.h"
#include "engine/gpu/native/instance.h"
#include "engine/gpu/run.h"
#include "platform/net/server.h"

namespace weft::cli {

namespace {

constexpr auto look_every = std::chrono::milliseconds(200);
constexpr auto stop_max = std::chrono::seconds(12);  // A worker lets its tasks run for up to 10 s.

int exit_status(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Result<std::vector<gpu::AdapterInfo>> adapters() {
  const auto instance = gpu::native::create_instance();
  return gpu::run(*instance, instance->adapters());
}

struct Running {
  std::size_t gpu;
  std::unique_ptr<ChildProcess> process;
  bool ended = false;
};

Result<std::vector<Running>> start(const worker::WorkOptions& options,
                                   const std::vector<std::size_t>& gpus) {
  std::filesystem::path wallet = options.wallet;
  if (wallet.empty()) {
    WEFT_ASSIGN(wallet, crypto::default_wallet_path());
  }
  std::vector<Running> workers;
  for (const std::size_t gpu : gpus) {
    worker::WorkOptions own = options;
    own.adapter = gpu;
    own.wallet = wallet_of_worker(wallet, workers.size());
    std::vector<std::string> arguments = work_arguments(own);
    arguments.insert(arguments.begin(), own_executable().string());
    WEFT_ASSIGN(auto process, ChildProcess::start({.arguments = std::move(arguments),
                                                   .environment = {},
                                                   .on_line = [gpu](std::string_view line) {
                                                     std::fprintf(stderr, "gpu %zu: %.*s\n", gpu,
                                                                  static_cast<int>(line.size()),
                                                                  line.data());
                                                   }}));
    workers.push_back({.gpu = gpu, .process = std::move(process)});
  }
  return workers;
}

// Waits for all workers. Returns the first exit code that is not 0.
int wait_for(std::vector<Running>& workers) {
  int code = 0;
  bool stopping = false;
  Instant give_up = Instant::max();
  while (std::ranges::any_of(workers, [](const Running& worker) { return !worker.ended; })) {
    if (interrupted() && !stopping) {
      stopping = true;
      give_up = now() + stop_max;
      // Sends SIGINT, which the workers' sandboxes ignore.
      for (const Running& worker : workers) {
        if (!worker.ended) worker.process->signal(SIGINT);
      }
    }
    for (Running& worker : workers) {
      if (worker.ended || (worker.process->running() && now() < give_up)) continue;
      const int ended = exit_status(worker.process->stop({}));
      worker.ended = true;
      if (!stopping) log_warning("the worker on GPU {} has ended; the others continue", worker.gpu);
      code = code == 0 ? ended : code;
    }
    if (stopping) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    } else {
      sleep_unless_interrupted(look_every);
    }
  }
  return code;
}

// Checks the key that the coordinator has proven under its host name.
Result<> accept_coordinator(const std::string& url, const net::TlsOptions& tls,
                            const PublicKey& key) {
  WEFT_ASSIGN(const net::Url parsed, net::Url::parse(url));
  const auto seen = KnownCoordinators::meet({.host = protocol::canonical_host(parsed.authority()),
                                             .is_loopback = net::is_loopback(parsed.host),
                                             .shown = key},
                                            {});
  if (seen) return {};
  // The coordinator may have a new key that its known key announces. ApiClient reads the
  // announcement and checks it.
  WEFT_ASSIGN(
      const auto client,
      ApiClient::create({.url = url, .tls = tls, .patience = std::chrono::milliseconds(2'000)}));
  WEFT_ASSIGN(const PublicKey announced, client->coordinator());
  return announced == key ? Result<>() : std::unexpected(seen.error());
}

int work_on(const worker::WorkOptions& options, std::string_view adapter) {
  const auto found = adapters();
  if (!found) return report("work", found.error());
  const auto gpus = chosen_gpus(adapter, *found);
  if (!gpus) return report("work", gpus.error());
  if (gpus->size() == 1) {
    worker::WorkOptions one = options;
    one.adapter = gpus->front();
    return worker::work_command(one);
  }
  note_interruptions();
  auto workers = start(options, *gpus);
  if (!workers) return report("work", workers.error());
  return wait_for(*workers);
}

}  // namespace

Result<std::vector<std::size_t>> chosen_gpus(std::string_view adapter,
                                             std::span<const gpu::AdapterInfo> adapters) {
  std::vector<std::size_t> gpus;
  const auto malformed = [&] {
    return fail(ErrorCode::invalid_argument,
                "--adapter \"{}\" is not all, nor numbers of GPUs such as 0 or 0,1.", adapter);
  };
  if (adapter.empty()) return malformed();
  if (adapter == "all") {
    for (std::size_t i = 0; i < adapters.size(); ++i) {
      if (adapters[i].kind != gpu::AdapterKind::cpu) gpus.push_back(i);
    }
    if (const auto best = gpu::best_adapter(adapters); gpus.empty() && best) gpus.push_back(*best);
    if (gpus.empty()) {
      return fail(
          ErrorCode::unavailable,
          "This machine has no GPU that WebGPU can use (no Vulkan, Direct3D 12 or Metal driver); "
          "--device cpu works without one.");
    }
    return gpus;
  }
  for (const auto part : std::views::split(adapter, ',')) {
    const std::string_view text(part);
    std::size_t gpu = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), gpu);
    if (error != std::errc() || end != text.data() + text.size() ||
        std::ranges::contains(gpus, gpu))
      return malformed();
    if (gpu >= adapters.size())
      return fail(ErrorCode::not_found,
                  "There is no GPU with number {}: this machine has {}, which 'weft bench gpu "
                  "--list' shows.",
                  gpu, adapters.size());
    gpus.push_back(gpu);
  }
  return gpus;
}

std::filesystem::path wallet_of_worker(const std::filesystem::path& wallet, std::size_t n) {
  if (n == 0) return wallet;
  return wallet.parent_path() /
         weft::format("{}-{}{}", wallet.stem().string(), n + 1, wallet.extension().string());
}

std::vector<std::string> work_arguments(const worker::WorkOptions& options) {
  std::vector<std::string> arguments{"work"};
  const auto add = [&](const char* name, std::string value) {
    if (!value.empty()) arguments.insert(arguments.end(), {name, std::move(value)});
  };
  add("--coordinator", options.coordinator);
  add("--device", options.device);
  if (options.adapter) add("--adapter", std::to_string(*options.adapter));
  add("--invite", options.invite);
  add("--wallet", options.wallet.string());
  add("--slots", std::to_string(options.slots));
  add("--wall-ms-max", std::to_string(options.wall_ms_max));
  add("--memory-mb", std::to_string(options.memory_mb));
  add("--slice-memory-mb", std::to_string(options.slice_memory_mb));
  if (options.price > 0) add("--price", weft::format("{:.6f}", options.price));
  add("--model-memory-mb", std::to_string(options.model_memory_mb));
  add("--model-disk-mb", std::to_string(options.model_disk_mb));
  add("--peer-listen", options.peer_listen);
  add("--peer-address", options.peer_address);
  if (options.unsafe_sandbox) arguments.emplace_back("--unsafe-sandbox");
  add("--ca-cert", options.tls.ca_cert);
  if (options.tls.insecure) arguments.emplace_back("--tls-insecure");
  return arguments;
}

int work_command(const WorkCommand& command) {
  worker::WorkOptions options = command.options;
  options.accept = [url = options.coordinator, tls = options.tls](const PublicKey& key) {
    return accept_coordinator(url, tls, key);
  };
  return command.adapter.empty() ? worker::work_command(options)
                                 : work_on(options, command.adapter);
}

}  // namespace weft::cli
