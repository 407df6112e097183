// `weft serve`: a coordinator until Ctrl-C.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/coordinator/http/model_texts.h"
#include "apps/coordinator/ingest/part_runner.h"
#include "apps/coordinator/ingest/submission.h"
#include "platform/net/client.h"

namespace weft::cli {

struct ServeOptions {
  std::string listen =
      "127.0.0.1:7300";        // ADDRESS:PORT; IPv6 in brackets; port 0 takes a free one.
  std::filesystem::path data;  // Empty: $XDG_DATA_HOME/weft, else ~/.local/share/weft.
  std::string store = "sqlite:";
  std::optional<double> grant;  // Credits to an invited client; default: 100,000.
  double price_base = 1;        // Credits for a compute unit, before what raises it.
  std::filesystem::path tls_cert;
  std::filesystem::path tls_key;
  bool tls_self_signed = false;
  bool insecure = false;
  bool is_public = false;                                   // Strangers reach it: public_profile.h.
  std::filesystem::path web;                                // Empty: web/dist of the installation.
  std::uint64_t blob_bytes_max = std::uint64_t{4} << 30;    // One blob.
  std::uint64_t blobs_bytes_max = std::uint64_t{64} << 30;  // All blobs.
  std::uint32_t job_data_days = 7;  // After a job's end its data and results go.
  std::uint64_t job_input_bytes_max = std::uint64_t{4} << 30;
  std::uint64_t job_output_bytes_max = std::uint64_t{1} << 30;
  std::uint64_t jobs_max = 10'000;
  std::uint64_t tasks_max = 2'000'000;
  std::optional<std::uint64_t> jobs_per_client;  // Default: client_shares.h.
  std::optional<std::uint64_t> tasks_per_client;
  std::uint64_t workers_max = 20'000;
  std::uint64_t task_wall_ms = 30'000;  // For one task.
  std::uint32_t checkpoint_ms =
      250;  // Between two states of a long task, at least; 0: none are kept.
  std::vector<std::string> client_weights;  // ADDRESS=WEIGHT
  std::uint32_t stake_permille = 0;         // Thousandths of a worker's earnings: into its stake,
  double stake_target = 10;                 // until that holds so many credits.
  bool allow_anyone = false;                // Jobs whose results any workers decide.
  bool unchecked_shaders = false;           // Jobs whose shader no device here can compile.
  bool stakes = false;                      // Workers may deposit and withdraw stakes.
  bool require_keys = false;                // For models; by default if others reach it.
  bool open_models = false;                 // No keys then either.
  std::uint32_t guest_requests = 20;        // Requests of guests, a minute and address.
  std::string fallback;                     // Answers what the network cannot; empty: none.
  std::filesystem::path fallback_key_file;  // Its API key.
  net::TlsOptions fallback_tls;
  std::filesystem::path settlement;  // Network file of `weft chain init`; empty: none.
  std::string activations = "auto";  // What served models' matrices are multiplied with.
  std::string wire = "f32";          // Type of hidden states between workers that share a model.
  std::string partition = "hybrid";  // How models are cut between workers.
  std::string ice_servers;           // STUN and TURN servers for tabs: JSON, or a file with it.
  double rate_limit = 50;            // Requests a second from one address, by their cost.
  std::vector<std::string> hosts;    // Names that others call it by.
  std::vector<std::string> trusted_proxies;              // Addresses.
  std::uint64_t connections_max = 20'000;                // In all,
  std::optional<std::uint64_t> connections_per_address;  // and of one address (IPv6: a /64).
};

// $XDG_DATA_HOME/weft, else ~/.local/share/weft.
[[nodiscard]] Result<std::filesystem::path> default_data_folder();

// Makes the shader checker once the data folder is known to be ours; an empty one checks nothing.
using ShaderCheckerFactory = std::function<coordinator::ShaderChecker()>;

// Prints one line with the URL to standard output when it is ready. SIGINT and SIGTERM end it in
// order.
[[nodiscard]] int serve_command(const ServeOptions& options,
                                const ShaderCheckerFactory& make_checker,
                                const coordinator::PartRunnerFactory& runner,
                                const coordinator::TextReaderFactory& texts = {});

}  // namespace weft::cli
