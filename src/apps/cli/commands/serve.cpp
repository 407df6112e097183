#include "apps/cli/commands/serve.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <sys/resource.h>
#include <sys/stat.h>

#include "apps/cli/commands/client_shares.h"
#include "apps/cli/commands/invite.h"
#include "apps/cli/commands/public_profile.h"
#include "apps/cli/exit_code.h"
#include "apps/cli/installation.h"
#include "apps/cli/network_models.h"
#include "apps/cli/settlement/line.h"
#include "apps/coordinator/coordinator.h"
#include "common/base/log.h"
#include "platform/net/server.h"
#include "platform/net/static_files.h"

namespace weft::cli {
namespace {

Result<> split_address(const std::string& listen, coordinator::Options& options) {
  const auto colon = listen.rfind(':');
  const auto malformed = [&] {
    return fail(ErrorCode::invalid_argument,
                "--listen {} is not an ADDRESS:PORT such as 127.0.0.1:7300 or [::1]:7300.", listen);
  };
  if (colon == std::string::npos || colon == 0) return malformed();
  std::string address = listen.substr(0, colon);
  if (address.starts_with('[') && address.ends_with(']'))
    address = address.substr(1, address.size() - 2);
  if (address == "localhost") address = "127.0.0.1";
  const char* first = listen.data() + colon + 1;
  const char* last = listen.data() + listen.size();
  const auto [end, error] = std::from_chars(first, last, options.port);
  if (error != std::errc() || end != last || first == last) return malformed();
  if (!net::is_address(address))
    return fail(ErrorCode::invalid_argument,
                "--listen {}: \"{}\" is not an IP address, such as 127.0.0.1 or 0.0.0.0.", listen,
                address);
  options.listen = std::move(address);
  return {};
}

// Refuses values with which a coordinator could start, but could not do its work.
Result<> check_bounds(const ServeOptions& options) {
  if (options.blob_bytes_max > options.blobs_bytes_max) {
    return fail(
        ErrorCode::invalid_argument,
        "--blob-bytes-max {} is more than all blobs together may take (--blobs-bytes-max {}).",
        options.blob_bytes_max, options.blobs_bytes_max);
  }
  if (!(options.rate_limit >= 1 && options.rate_limit <= 1e6))
    return fail(ErrorCode::invalid_argument, "--rate-limit {} is not a number from 1 to 10^6.",
                options.rate_limit);
  for (const std::string& proxy : options.trusted_proxies) {
    if (!net::is_address(proxy))
      return fail(ErrorCode::invalid_argument,
                  "--trusted-proxy \"{}\" is not an IP address, such as 127.0.0.1.", proxy);
  }
  for (const std::string& host : options.hosts) {
    if (host.find_first_not_of(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-*") !=
            std::string::npos ||
        host.empty())
      return fail(ErrorCode::invalid_argument,
                  "--host \"{}\" is not a host name, such as weft.example (without a port).", host);
  }
  std::error_code ignored;
  if (!options.web.empty() && !std::filesystem::is_directory(options.web, ignored))
    return fail(ErrorCode::invalid_argument, "--web {} is not a folder.", options.web.string());
  return {};
}

Result<coordinator::Options> to_coordinator(const ServeOptions& options) {
  WEFT_OK(check_bounds(options));
  coordinator::Options out;
  WEFT_OK(split_address(options.listen, out));
  out.data = options.data;
  if (out.data.empty()) {
    WEFT_ASSIGN(out.data, default_data_folder());
  }
  out.store = options.store;
  if (options.grant) {
    if (!(*options.grant >= 0 && *options.grant <= 1e12))
      return fail(ErrorCode::invalid_argument,
                  "--grant {} is not an amount of credits from 0 to 10^12.", *options.grant);
    out.grant = std::llround(*options.grant * 1e6);
  }
  out.core.scheduler.pricing.per_unit = std::llround(options.price_base * 1e6);
  out.tls_cert = options.tls_cert;
  out.tls_key = options.tls_key;
  out.tls_self_signed = options.tls_self_signed;
  out.insecure = options.insecure;
  out.web = options.web.empty() ? installation_folder() / "web/dist" : options.web;
  out.blob_bytes_max = options.blob_bytes_max;
  out.blobs_bytes_max = options.blobs_bytes_max;
  out.blob_ends.kept = std::chrono::days(options.job_data_days);
  out.rate_limit = options.rate_limit;
  out.hosts = options.hosts;
  out.trusted_proxies = options.trusted_proxies;
  out.limits.connections_max = options.connections_max;
  if (options.connections_per_address) {
    out.limits.connections_per_address = *options.connections_per_address;
    out.limits.address_share = 0;  // The operator's number for each address replaces this share.
  }
  out.wire = options.wire;
  out.activations = options.activations;
  out.partition = options.partition;
  out.ice_servers = options.ice_servers;
  out.camera_relay_bytes_per_second = options.camera_relay * 1e6 / 8;
  out.submission = {.input_bytes_max = options.job_input_bytes_max,
                    .output_bytes_max = options.job_output_bytes_max,
                    .unchecked_shaders = options.unchecked_shaders};
  out.core.jobs_running_max = options.jobs_max;
  out.core.tasks_open_max = options.tasks_max;
  const ClientShares shares = client_shares(options);
  if (!shares.warning.empty()) log_warning("{}", shares.warning);
  out.core.jobs_per_client_max = shares.jobs;
  out.core.tasks_per_client_max = shares.tasks;
  out.core.workers_max = options.workers_max;
  if (!(options.stake_target >= 0 && options.stake_target <= 1e12)) {
    return fail(ErrorCode::invalid_argument,
                "--stake-target {} is not an amount of credits from 0 to 10^12.",
                options.stake_target);
  }
  out.core.stake_permille = options.stake_permille;
  out.core.stake_target = std::llround(options.stake_target * 1e6);
  out.core.stakes_open = options.stakes;
  out.allow_anyone = options.allow_anyone;
  if (options.require_keys && options.open_models)
    return fail(ErrorCode::invalid_argument,
                "Give either --require-keys or --open-models, not both.");
  if (options.require_keys || options.open_models) out.require_keys = options.require_keys;
  out.guest_requests = options.guest_requests;
  if (!options.fallback.empty()) {
    coordinator::Fallback::Options fallback{.url = options.fallback, .key = {}};
    fallback.tls = options.fallback_tls;
    if (!options.fallback_key_file.empty()) {
      WEFT_ASSIGN(fallback.key, read_key_file(options.fallback_key_file));
    }
    out.fallback = std::move(fallback);
  }
  if (!options.settlement.empty()) {
    SettlementOptions file;
    file.network = options.settlement;
    WEFT_ASSIGN(file, with_network_file(file));
    coordinator::SettlementNetwork network{.rpc = file.rpc, .program = {}, .mint = {}};
    WEFT_ASSIGN(network.program, parse_key(file.program, "a program"));
    WEFT_ASSIGN(network.mint, parse_key(file.mint, "a mint"));
    if (file.genesis.empty()) {
      log_warning(
          "{} does not name the genesis hash of its cluster, so that workers sign receipts for no "
          "chain: add \"genesis\" with the hash in hexadecimal digits, or run `weft chain init` "
          "again with the same --mint-key and --out, which writes the file again.",
          options.settlement.string());
    } else {
      WEFT_ASSIGN(network.genesis, Hash::parse(file.genesis));
    }
    if (net::origin_of(file.rpc).empty())
      return fail(ErrorCode::invalid_argument,
                  "The node's address \"{}\" in {} is not a valid http:// or https:// address.",
                  file.rpc, options.settlement.string());
    out.settlement = std::move(network);
  }
  out.core.scheduler.wall_max = std::chrono::milliseconds(options.task_wall_ms);
  out.core.scheduler.checkpoint_min = std::chrono::milliseconds(options.checkpoint_ms);
  for (const std::string& given : options.client_weights) {
    const auto equals = given.find('=');
    const auto key = PublicKey::parse(std::string_view(given).substr(0, equals));
    double weight = 0;
    if (equals != std::string::npos) {
      const char* const last = given.data() + given.size();
      const auto [end, error] = std::from_chars(given.data() + equals + 1, last, weight);
      if (error != std::errc() || end != last) weight = 0;
    }
    if (!key || !(weight >= 0.001 && weight <= 1000)) {
      return fail(ErrorCode::invalid_argument,
                  "--client-weight {} is not an ADDRESS=WEIGHT with a weight from 0.001 to 1000.",
                  given);
    }
    out.core.client_weights[*key] = weight;
  }
  return out;
}

// Raises the limit on descriptors to its maximum, because each connection takes one.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

Result<int> serve(const ServeOptions& options, const ShaderCheckerFactory& make_checker,
                  const coordinator::PartRunnerFactory& runner,
                  const coordinator::TextReaderFactory& texts) {
  // The signals are blocked before any thread starts, so that all threads inherit the mask and only
  // sigwait() receives them.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  umask(077);  // The data folder has keys and clients' data.
  raise_descriptor_limit();

  WEFT_ASSIGN(auto coordinator_options, to_coordinator(options));
  const auto data = coordinator_options.data;
  const bool others_reach_it = coordinator::others_reach(coordinator_options);
  WEFT_ASSIGN(const auto coordinator,
              coordinator::Coordinator::start(
                  std::move(coordinator_options),
                  make_checker ? make_checker() : coordinator::ShaderChecker{}, runner, texts));
  std::printf("Weft is ready at %s\n", coordinator->url().c_str());
  std::printf("Its key is %s (--coordinator-key)\n", coordinator->key().text().c_str());
  if (!others_reach_it) {
    WEFT_ASSIGN(const std::string invite,
                invitation({.data = data, .kind = crypto::InvitationKind::client, .wallet = {}}));
    std::printf("A browser that submits jobs comes by %s/#invite=%s\n", coordinator->url().c_str(),
                invite.c_str());
  }
  std::fflush(stdout);
  int signal = 0;
  sigwait(&signals, &signal);
  coordinator->stop();
  return 0;
}

}  // namespace

Result<std::filesystem::path> default_data_folder() {
  if (const char* data = std::getenv("XDG_DATA_HOME"); data != nullptr && *data != '\0')
    return std::filesystem::path(data) / "weft";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    return std::filesystem::path(home) / ".local/share/weft";
  return fail(ErrorCode::invalid_argument,
              "There is no home folder to keep data in: name one with --data.");
}

int serve_command(const ServeOptions& given, const ShaderCheckerFactory& make_checker,
                  const coordinator::PartRunnerFactory& runner,
                  const coordinator::TextReaderFactory& texts) {
  ServeOptions options = given;
  if (options.is_public) {
    if (const auto applied = apply_public_profile(options); !applied)
      return report("serve", applied.error());
  }
  const Result<int> code = serve(options, make_checker, runner, texts);
  return code ? *code : report("serve", code.error());
}

}  // namespace weft::cli
