// The shared state of the parties of one history: the coordinator, the parties, what the
// coordinator has acknowledged, and the requests under way.
//
// Threading: one thread; pump() advances all connections.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/crypto/keys.h"
#include "common/manifest/manifest.h"
#include "fuzz/sessions/coordinator_process.h"
#include "fuzz/sessions/random.h"
#include "fuzz/sessions/wire.h"

namespace weft::sessions {

using Nonce = std::array<std::uint8_t, 16>;

// A job that the coordinator has acknowledged.
struct KnownJob {
  std::string id;
  std::string link;
  std::size_t client = 0;  // The coordinator has acknowledged that the job is cancelled.
  Nonce nonce{};
  std::string text;                                    // The manifest as it was sent.
  std::shared_ptr<const manifest::Manifest> manifest;  // Missing if the fuzzer does not read it.
  bool cancelled = false;                              // The coordinator has acknowledged it.
};

struct KnownModel {
  std::string name;
  std::size_t owner = 0;
};

class World {
 public:
  World(std::uint64_t seed, std::filesystem::path data);

  using Answered = std::function<void(const std::optional<HttpAnswer>&)>;
  // Sends a request from the client's address. `answered` gets nothing if the connection ends
  // first.
  void ask(HttpRequest request, Answered answered, std::uint32_t source);
  // Sends the text of a request unchanged.
  void ask_text(std::string text, Answered answered, std::uint32_t source);
  // Waits for the answer, and tries again while it is 503 or 429. Empty after a minute (more on a
  // busy machine), or once the coordinator has ended.
  [[nodiscard]] std::optional<HttpAnswer> ask_now(const HttpRequest& request, std::uint32_t source);
  [[nodiscard]] HttpRequest sign(const crypto::KeyPair& wallet, HttpRequest request,
                                 std::optional<Nonce> nonce = std::nullopt,
                                 std::optional<Hash> blob = std::nullopt);
  // Reads and writes on all connections, and waits at most `wait`.
  void pump(std::chrono::milliseconds wait);
  // Gives up all requests under way.
  void forget_requests() { exchanges_.clear(); }
  [[nodiscard]] std::size_t under_way() const { return exchanges_.size(); }
  // Sockets that pump() waits for beside its own.
  std::function<void(std::vector<int>&)> other_files = [](std::vector<int>&) {};

  // Starts the coordinator and waits until it answers. If that fails, returns false and sets
  // `trouble`.
  bool start();
  void fail(std::string what);
  [[nodiscard]] std::string host() const;
  [[nodiscard]] Nonce nonce();
  [[nodiscard]] std::uint32_t address(std::size_t party) const;
  // An invitation of the operator, of a random kind; a few are not valid.
  [[nodiscard]] std::string invitation(bool for_client);
  [[nodiscard]] std::string verifiers_invitation() const;

  const std::uint64_t seed;
  Random random;
  const std::filesystem::path data;
  CoordinatorProcess coordinator;
  PublicKey coordinator_key{};
  std::optional<crypto::KeyPair> operators;
  std::vector<crypto::KeyPair> clients;
  std::vector<crypto::KeyPair> workers;
  crypto::KeyPair plain;    // An honest client, which submits at the end.
  std::vector<Hash> blobs;  // Uploaded blobs of 64 bytes each.
  std::deque<KnownJob> jobs;
  std::vector<KnownModel> models;
  std::vector<std::string> secrets;  // Secrets of the API keys.
  std::vector<std::string> key_ids;
  std::vector<std::string> responses;
  std::size_t events = 0;
  std::map<std::string, std::size_t> counts;  // Answers by route and status, and other events.
  std::string trouble;                        // The first failure; empty: no failure.
  // Called while ask_now() waits; empty: nothing is called.
  std::function<void()> meanwhile;

 private:
  struct Exchange {
    Exchange(const Endpoint& coordinator, std::uint32_t source) : line(coordinator, source) {}
    Connection line;
    std::string route;
    Answered answered;
    Instant give_up{};
  };
  std::vector<std::unique_ptr<Exchange>> exchanges_;
  bool busy_meanwhile_ = false;  // True while `meanwhile` runs, which may call ask_now().
};

}  // namespace weft::sessions
