// `weft serve`: runs a coordinator until Ctrl-C.
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
      "127.0.0.1:7300";  // ADDRESS:PORT; IPv6 in brackets; port 0: the system chooses a free one.
  std::filesystem::path data;  // Data folder; empty: default_data_folder().
  std::string store = "sqlite:";
  std::optional<double> grant;  // Credits for an invited client; default: 100,000.
  double price_base = 1;        // Base price of a compute unit, in credits.
  std::filesystem::path tls_cert;
  std::filesystem::path tls_key;
  bool tls_self_signed = false;
  bool insecure = false;
  bool is_public = false;     // Strangers can reach the coordinator: public_profile.h.
  std::filesystem::path web;  // Folder of the page; empty: web/dist of the installation.
  std::uint64_t blob_bytes_max = std::uint64_t{4} << 30;    // Maximum size of one blob.
  std::uint64_t blobs_bytes_max = std::uint64_t{64} << 30;  // Maximum size of all blobs.
  std::uint32_t job_data_days = 7;  // Days until an ended job's data and results are removed.
  std::uint64_t job_input_bytes_max = std::uint64_t{4} << 30;
  std::uint64_t job_output_bytes_max = std::uint64_t{1} << 30;
  std::uint64_t jobs_max = 10'000;
  std::uint64_t tasks_max = 2'000'000;
  std::optional<std::uint64_t> jobs_per_client;  // None: the default of client_shares.h.
  std::optional<std::uint64_t> tasks_per_client;
  std::uint64_t workers_max = 20'000;
  std::uint64_t task_wall_ms = 30'000;  // Time limit of one task.
  std::uint32_t checkpoint_ms =
      250;  // Least time between two checkpoints of a long task; 0: no checkpoints.
  std::vector<std::string> client_weights;  // Weights of clients, as ADDRESS=WEIGHT.
  std::uint32_t stake_permille = 0;  // Thousandths of a worker's earnings that go to its stake.
  double stake_target = 10;          // Stake in credits above which earnings are not staked.
  bool allow_anyone = false;         // Allows jobs whose results any workers decide.
  bool unchecked_shaders = false;    // Accepts shaders that no device here can compile.
  bool stakes = false;               // Workers may deposit and withdraw stakes.
  // Models require API keys; the default if others can reach the coordinator.
  bool require_keys = false;
  // Models require no API keys, even if others can reach the coordinator.
  bool open_models = false;
  std::uint32_t guest_requests = 20;  // Requests of guests a minute and address.
  std::string fallback;               // Endpoint for models that the network lacks; may be empty.
  std::filesystem::path fallback_key_file;  // File with the API key of the fallback.
  net::TlsOptions fallback_tls;
  std::filesystem::path settlement;  // Network file of `weft chain init`; empty: none.
  std::string activations = "auto";  // Format of activations in matrix products of served models.
  std::string wire = "f32";          // Type of hidden states between workers that share a model.
  std::string partition = "hybrid";  // Strategy by which models are divided among workers.
  std::string ice_servers;           // STUN and TURN servers for tabs: JSON, or a file with it.
  double camera_relay = 100;  // Megabits a second relayed for cameras without a direct connection.
  double rate_limit = 50;     // Requests a second from one address, by their cost.
  std::vector<std::string> hosts;            // Host names by which others reach the coordinator.
  std::vector<std::string> trusted_proxies;  // Numeric addresses of proxies.
  std::uint64_t connections_max = 20'000;    // Most connections of all addresses together.
  // Most connections of one address (IPv6: /64).
  std::optional<std::uint64_t> connections_per_address;
};

// Returns $XDG_DATA_HOME/weft, or ~/.local/share/weft if the variable is not set.
[[nodiscard]] Result<std::filesystem::path> default_data_folder();

// Makes the shader checker after the data folder was locked; an empty checker checks nothing.
using ShaderCheckerFactory = std::function<coordinator::ShaderChecker()>;

// Prints one line with the URL to standard output when the coordinator is ready. SIGINT and SIGTERM
// end it in an orderly way.
[[nodiscard]] int serve_command(const ServeOptions& options,
                                const ShaderCheckerFactory& make_checker,
                                const coordinator::PartRunnerFactory& runner,
                                const coordinator::TextReaderFactory& texts = {});

}  // namespace weft::cli
