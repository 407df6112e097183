// This worker's direct connections to other members of its chains, over PeerLines: which are
// wanted, which opened in time, how long a message takes on them. A chain is reported as linked
// once all its connections are open, or when they take too long: the coordinator relays then.
//
// Threading: the host's thread. Lifetime: held by a shared_ptr; host and peers outlive it, and
// after close() nothing of a chain is reported. Errors: a connection that is lost, or carries a
// frame of another worker or epoch, is reported as Parted, so that the coordinator links the chain
// again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/protocol/peer_line.h"
#include "common/protocol/serving.h"
#include "worker/inference/peer_lines.h"
#include "worker/inference/serving_host.h"

namespace weft::worker {

class DirectLinks : public std::enable_shared_from_this<DirectLinks> {
 public:
  struct Options {
    std::vector<std::string> lines{};  // That this worker offers.
    PeerLines* peers = nullptr;        // Null: the coordinator relays everything.
    Duration patience{};               // How long a connection may take to open.
  };
  struct Outputs {
    std::function<void(const protocol::serving::ServingWorkerMessage&)> tell;  // The coordinator.
    std::function<void(const ByteVector&)> frame;  // A hop to this worker.
  };
  DirectLinks(ServingHost& host, Options options, Outputs outputs)
      : host_(host), options_(std::move(options)), outputs_(std::move(outputs)) {}

  // Opens what this member of a chain of several needs.
  void open(const protocol::serving::Link& link);
  void close(std::uint32_t chain);
  void signal(const protocol::serving::Signal& signal);

  enum class Sent : std::uint8_t { directly, no_link, lost };
  // A frame to another member. `lost`: the connection was open and is not any more; the frame is
  // dropped, as the chain is linked again.
  [[nodiscard]] Sent send(std::uint32_t chain, std::uint32_t member, const ByteVector& frame);

  // Measures every open connection.
  void ping();
  // The shortest way to each worker that was measured since the last call.
  [[nodiscard]] std::map<PublicKey, Duration> take_latencies();

 private:
  // The connections of one chain in one epoch.
  struct Direct {
    struct Ping {
      std::uint32_t number = 0;
      Instant sent{};
    };
    std::uint64_t opening = 0;  // Another one for each open().
    std::uint32_t epoch = 0;
    std::uint32_t index = 0;
    bool all = false;  // To all members to which it sends.
    std::set<std::uint32_t> waiting{}, open{};
    std::vector<std::uint32_t> unreached{};
    bool settled = false;
    std::string word{};
    std::vector<PublicKey> workers{};
    std::map<std::uint32_t, Ping> pings{};
  };
  [[nodiscard]] PeerLines::Events events_of(std::uint32_t chain, std::uint64_t opening);
  template <class Function>
  auto while_open(std::uint32_t chain, std::uint64_t opening, Function function);
  void opened(std::uint32_t chain, Direct& direct, std::uint32_t member, std::string_view word);
  void closed(std::uint32_t chain, Direct& direct, std::uint32_t member);
  void settle(std::uint32_t chain, Direct& direct);
  void part(std::uint32_t chain, Direct& direct, std::uint32_t member);
  void on_frame(std::uint32_t chain, Direct& direct, std::uint32_t from, const ByteVector& frame);
  void on_ping(std::uint32_t chain, Direct& direct, std::uint32_t from,
               const protocol::serving::PingFrame& ping);

  ServingHost& host_;
  const Options options_;
  const Outputs outputs_;
  std::map<std::uint32_t, Direct> direct_;  // By chain.
  std::map<PublicKey, Duration> latencies_;
  std::uint32_t pings_ = 0;
  std::uint64_t openings_ = 0;
};

}  // namespace weft::worker
