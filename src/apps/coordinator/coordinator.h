// The running coordinator: a store, a core on its own thread, and an HTTP server.
//
//   auto coordinator = Coordinator::start({.listen = "127.0.0.1", .port = 7300, .data = "..."});
//   print(coordinator->url()); ...wait for a signal...; coordinator->stop();
//
// A process has at most one coordinator, because it can have only one net::Server. The folder
// `data` holds all files: the store, blobs/, the coordinator's key, tls/, incoming/.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/coordinator/blob_sweep.h"
#include "apps/coordinator/http/fallback.h"
#include "apps/coordinator/http/model_texts.h"
#include "apps/coordinator/http/settlement_network.h"
#include "apps/coordinator/http/signatures.h"
#include "apps/coordinator/ingest/part_runner.h"
#include "apps/coordinator/ingest/submission.h"
#include "common/base/result.h"
#include "decisions/jobs/core.h"
#include "platform/net/limits.h"

namespace weft::coordinator {

struct Options {
  std::string listen = "127.0.0.1";
  std::uint16_t port = 7300;  // The port to listen at; 0 takes a free port.
  std::filesystem::path data{};
  std::string store = "sqlite:";  // "sqlite:" in the data folder, "sqlite:PATH", or "memory:".
  std::optional<MicroCredits> grant{};  // Credits of invited clients; default 100,000.
  std::filesystem::path tls_cert{};
  std::filesystem::path tls_key{};
  bool tls_self_signed = false;
  bool insecure = false;  // Allows plain HTTP beyond loopback.
  std::filesystem::path web{};
  std::uint64_t blob_bytes_max = std::uint64_t{4} << 30;    // Most bytes of one blob.
  std::uint64_t blobs_bytes_max = std::uint64_t{64} << 30;  // Most bytes of all blobs together.
  double rate_limit = 50;                      // Request cost a second and address; 0: no limit.
  net::Limits limits{};                        // Bounds for strangers (docs/security.md).
  SignatureSettings signatures{};              // Rules for signed requests.
  std::vector<std::string> hosts{};            // Accepted host names besides the own addresses.
  std::vector<std::string> trusted_proxies{};  // Proxies whose X-Forwarded-For is trusted.
  std::optional<bool> require_keys{};          // Models need API keys; default: others_reach().
  std::uint32_t guest_requests =
      20;  // Guest requests a minute and address if keys are required; 0 allows no guests.
  std::optional<Fallback::Options> fallback{};    // Endpoint for requests the network cannot serve.
  std::optional<SettlementNetwork> settlement{};  // Chain on which the web page settles.
  BlobSweep::Settings blob_ends{};                // Ages at which unneeded blobs are removed.
  double upload_share = 0.25;  // Share of blobs_bytes_max that one owner may upload an hour.
  // The share of the store's free room that strangers (workers that are neither invited nor
  // established) may take within an hour. Room for results of jobs is not part of it.
  store::Room::Shares stranger_room{};
  bool uploads_by_lease = true;    // Workers store only blobs that belong to their leases.
  bool reads_by_lease = true;      // Workers read only blobs of their leases and models.
  bool joins_apart = true;         // Joins of results have threads of their own (work_pools.h).
  bool signs_parts = true;         // Signatures of upload parts cover bytes and place.
  bool roots_when_decided = true;  // Result roots are shown only for accepted tasks.
  bool folder_is_private = true;   // Other users of the machine cannot read `data`.
  // Maximum bytes of one part of the export of an owner's data; 0: no bound.
  std::size_t owner_data_bytes_max = std::size_t{4} << 20;
  // Disk space that only the database may take.
  std::uint64_t disk_reserve_bytes = std::uint64_t{64} << 20;
  bool allow_anyone = false;  // Accepts jobs that any workers decide, even if public.
  SubmissionBounds submission{};
  jobs::CoreSettings core{};
  // The format of hidden states between workers that share a model: "f32", "f16" or "i8".
  std::string wire = "f32";
  // The number format in which the matrices of language models are multiplied: "f32", "f16",
  // "int8", or "auto". "int8" is at least twice as fast, but its answers differ less clearly from
  // those of other weights (common/proof/fingerprint.h). "auto" chooses by model
  // (decisions/inference/arithmetic.h).
  std::string activations = "auto";
  std::string partition = "hybrid";  // How language models are cut: "layer", "batch" or "hybrid".
  // ICE servers for tabs: a JSON array or a file's name (ice_servers.h).
  std::string ice_servers{};
  // Bytes a second that cameras and devices without a direct connection may exchange over the
  // coordinator, all together; 0: none.
  double camera_relay_bytes_per_second = 12.5e6;
  bool relays_for_known_only = true;  // Strangers are told of no TURN servers.
};

// True if other machines can reach the coordinator by its address or through a proxy on this
// machine.
[[nodiscard]] bool others_reach(const Options& options);

class Coordinator {
 public:
  // Locks the data folder, recovers the stored state, and listens. `runner` computes for the
  // verifier; without a runner only invited and established workers check results. Fails with
  // invalid_argument for options that contradict each other and for a public address without TLS
  // (the message says what to do), and with unavailable if the folder or the port is in use.
  [[nodiscard]] static Result<std::unique_ptr<Coordinator>> start(Options options,
                                                                  ShaderChecker checker = {},
                                                                  PartRunnerFactory runner = {},
                                                                  TextReaderFactory texts = {});
  virtual ~Coordinator() = default;

  [[nodiscard]] virtual std::string url() const = 0;
  [[nodiscard]] virtual const PublicKey& key() const = 0;
  // Stops listening, stores all decisions, and unlocks the data folder.
  virtual void stop() = 0;
};

}  // namespace weft::coordinator
