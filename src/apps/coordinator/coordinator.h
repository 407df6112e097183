// The running coordinator: a store, a core on its own thread, and a server in front.
//
//   auto coordinator = Coordinator::start({.listen = "127.0.0.1", .port = 7300, .data = "..."});
//   print(coordinator->url()); ...wait for a signal...; coordinator->stop();
//
// One a process (net::Server is). Everything is in `data`: the store, blobs/, the coordinator's
// key, tls/, incoming/.
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
  std::uint16_t port = 7300;  // 0: a free one.
  std::filesystem::path data{};
  std::string store = "sqlite:";  // "sqlite:" in the data folder, "sqlite:PATH", or "memory:".
  std::optional<MicroCredits> grant{};  // To invited clients; default: 100,000 credits.
  std::filesystem::path tls_cert{};
  std::filesystem::path tls_key{};
  bool tls_self_signed = false;
  bool insecure = false;  // Listen beyond loopback without TLS.
  std::filesystem::path web{};
  std::uint64_t blob_bytes_max = std::uint64_t{4} << 30;    // Size of one blob.
  std::uint64_t blobs_bytes_max = std::uint64_t{64} << 30;  // Size of all blobs.
  double rate_limit = 50;            // Requests a second and address, by cost; 0: none.
  net::Limits limits{};              // What strangers may take; docs/security.md.
  SignatureSettings signatures{};    // What a signed request covers, and for how long it holds.
  std::vector<std::string> hosts{};  // Names that it is asked by, beside its own addresses'.
  std::vector<std::string> trusted_proxies{};  // Whose X-Forwarded-For is believed.
  std::optional<bool> require_keys{};          // For models; default: others_reach().
  std::uint32_t guest_requests =
      20;  // A minute and address, of the page where keys are required; 0: no guests.
  std::optional<Fallback::Options> fallback{};    // Answers what the network cannot.
  std::optional<SettlementNetwork> settlement{};  // Which chain the page settles on.
  BlobSweep::Settings blob_ends{};                // When blobs go that no job needs.
  double upload_share = 0.25;  // An owner uploads this share of blobs_bytes_max within an hour.
  // How much of the store's free room strangers (workers that are neither invited nor established)
  // take within an hour; room for results of jobs is not part of it.
  store::Room::Shares stranger_room{};
  bool uploads_by_lease = true;    // Workers store only what their leases lead to,
  bool reads_by_lease = true;      // and read only that and models that they serve.
  bool joins_apart = true;         // Joins of results have threads of their own (work_pools.h).
  bool signs_parts = true;         // Parts of uploads are signed with their bytes and place.
  bool roots_when_decided = true;  // Roots of a task's results are shown once it is accepted.
  bool folder_is_private = true;   // Other users of the machine read nothing of `data`.
  std::size_t owner_data_bytes_max = std::size_t{4} << 20;     // A part of an export; 0: no bound.
  std::uint64_t disk_reserve_bytes = std::uint64_t{64} << 20;  // For the database; 0: none.
  bool allow_anyone = false;  // Though others reach it: jobs whose results any workers decide.
  SubmissionBounds submission{};
  jobs::CoreSettings core{};
  // The format of hidden states between workers that share a model: "f32", "f16" or "i8".
  std::string wire = "f32";
  // What language models' matrices are multiplied with: "f32"; "f16"; or "int8", which is twice as
  // fast and more, and whose answers are told from those of other weights less sharply
  // (common/proof/fingerprint.h); "auto" decides by the model (decisions/inference/arithmetic.h).
  std::string activations = "auto";
  std::string partition = "hybrid";  // How language models are cut: "layer", "batch" or "hybrid".
  std::string ice_servers{};  // For tabs: a JSON array, or a file with one (serving/ice_servers.h).
  bool relays_for_known_only = true;  // TURN servers are named to invited and established ones.
};

// Other machines reach it: by its address, or through a proxy on this machine.
[[nodiscard]] bool others_reach(const Options& options);

class Coordinator {
 public:
  // `runner`: what the verifier computes with; without one only invited and established workers
  // check others. Locks the data folder, recovers, and listens. invalid_argument for options that
  // do not go together (and for a public address without TLS: the sentence says what to do),
  // unavailable if the folder or the port is taken.
  [[nodiscard]] static Result<std::unique_ptr<Coordinator>> start(Options options,
                                                                  ShaderChecker checker = {},
                                                                  PartRunnerFactory runner = {},
                                                                  TextReaderFactory texts = {});
  virtual ~Coordinator() = default;

  [[nodiscard]] virtual std::string url() const = 0;
  [[nodiscard]] virtual const PublicKey& key() const = 0;
  // Listens no more, stores what is decided, and lets go of the folder.
  virtual void stop() = 0;
};

}  // namespace weft::coordinator
