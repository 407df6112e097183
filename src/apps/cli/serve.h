// `weft serve`: a coordinator until Ctrl-C.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/coordinator/submission.h"

namespace weft::cli {

struct ServeOptions {
  std::string listen = "127.0.0.1:7300";  // ADDRESS:PORT; IPv6 in brackets; port 0 takes a free one.
  std::filesystem::path data;             // Empty: $XDG_DATA_HOME/weft, else ~/.local/share/weft.
  std::string store = "sqlite:";
  std::optional<double> grant;  // Credits to a new client; default 1,000 on loopback, 0 elsewhere.
  std::filesystem::path tls_cert;
  std::filesystem::path tls_key;
  bool tls_self_signed = false;
  bool insecure = false;
  std::filesystem::path web;                                // Empty: web/dist of the installation.
  std::uint64_t blob_bytes_max = std::uint64_t{4} << 30;    // One blob.
  std::uint64_t blobs_bytes_max = std::uint64_t{64} << 30;  // All blobs.
  std::uint64_t job_input_bytes_max = std::uint64_t{4} << 30;
  std::uint64_t job_output_bytes_max = std::uint64_t{1} << 30;
  std::uint64_t jobs_max = 10'000;
  std::uint64_t tasks_max = 2'000'000;
  std::uint64_t workers_max = 20'000;
  std::uint64_t task_wall_ms = 30'000;      // For one task.
  std::uint32_t checkpoint_ms = 250;        // Between two states of a long task, at least; 0: none are kept.
  std::vector<std::string> client_weights;  // ADDRESS=WEIGHT
  std::uint32_t stake_permille = 0;         // Of what a worker earns: into its stake,
  double stake_target = 10;                 // until that holds so many credits.
  std::uint32_t newcomer_lead = 0;          // Votes that newcomers' answers must lead by; 0: the job's own quorum.
  bool stakes = false;                      // Workers may deposit and withdraw stakes.
  bool require_keys = false;                // For models; beyond loopback by default.
  bool open_models = false;                 // No keys beyond loopback either.
  std::uint32_t guest_requests = 20;        // Of the page where keys are required, a minute and address.
  std::string wire = "f32";                 // Of hidden states between workers that share a model.
  std::string partition = "hybrid";         // How models are cut between workers.
  std::string ice_servers;                  // STUN and TURN servers for tabs: JSON, or a file with it.
  double rate_limit = 50;                   // Dear requests a second from one address; 0: no limit.
};

// Makes the shader checker once the data folder is known to be ours; an empty one checks nothing.
using ShaderCheckerFactory = std::function<coordinator::ShaderChecker()>;

// Prints one line with the URL to standard output when it is ready. SIGINT and SIGTERM end it in order.
[[nodiscard]] int serve_command(const ServeOptions& options, const ShaderCheckerFactory& make_checker);

}  // namespace weft::cli
