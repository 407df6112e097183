// This worker's direct links to other members of its chains, over PeerLines. DirectLinks opens the
// links, notes which links opened in time, and measures their latency. A chain is reported as
// linked once all its links are open, or after `patience`; the coordinator then relays between the
// members without an open link.
//
// Threading: the host's thread. Lifetime: held by a shared_ptr; host and peers outlive it, and
// after close() no event of a chain is reported. Errors: a link that is lost, or that carries a
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
    std::vector<std::string> lines{};  // Kinds of links that this worker offers.
    PeerLines* peers = nullptr;        // If null, the coordinator relays everything.
    Duration patience{};               // Maximum time for a link to open.
  };
  struct Outputs {
    // Sends a message to the coordinator.
    std::function<void(const protocol::serving::ServingWorkerMessage&)> tell;
    std::function<void(const ByteVector&)> frame;  // Called with a hop to this worker.
  };
  DirectLinks(ServingHost& host, Options options, Outputs outputs)
      : host_(host), options_(std::move(options)), outputs_(std::move(outputs)) {}

  // Opens the links that this member of a chain needs. The chain has several members.
  void open(const protocol::serving::Link& link);
  void close(std::uint32_t chain);
  void signal(const protocol::serving::Signal& signal);

  enum class Sent : std::uint8_t { directly, no_link, lost };
  // Sends a frame to another member. `lost`: the link was open and has closed; the frame is
  // dropped, because the chain is linked again.
  [[nodiscard]] Sent send(std::uint32_t chain, std::uint32_t member, const ByteVector& frame);

  // Measures the latency of every open link.
  void ping();
  // Returns the least one-way latency to each worker that was measured since the last call.
  [[nodiscard]] std::map<PublicKey, Duration> take_latencies();

 private:
  // The links of one chain in one epoch.
  struct Direct {
    struct Ping {
      std::uint32_t number = 0;
      Instant sent{};
    };
    std::uint64_t opening = 0;  // The number of the open() call.
    std::uint32_t epoch = 0;
    std::uint32_t index = 0;
    bool all = false;  // Every neighbour offers a kind of link that this worker has.
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
  std::map<std::uint32_t, Direct> direct_;  // The links, keyed by chain.
  std::map<PublicKey, Duration> latencies_;
  std::uint32_t pings_ = 0;
  std::uint64_t openings_ = 0;
};

}  // namespace weft::worker
