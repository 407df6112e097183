// The books of the relay of meetings (meetings.h): who may send how much to whom. A pair is a guest
// and the host of its meeting. Each side may send only as many bytes as it has credit for. A side
// gets credit for what the other side has taken, so that a slow receiver slows its sender, and so
// that no more than a window of bytes is under way in each direction.
//
// All credit comes from one rate. Networks with pairs that wait for credit get it in turn, so that
// a network with a thousand pairs gets no more than a network with one.
//
// Pure: the time is passed in. Not safe to share between threads. Bounded by Bounds::pairs_max.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/base/token_bucket.h"

namespace weft::coordinator {

class CameraRelay {
 public:
  using PairId = std::uint64_t;  // The number of the guest's socket.
  enum class Side : std::uint8_t { host, guest };

  // 0 turns a bound off, in tests only.
  struct Bounds {
    std::size_t pairs_max = 128;
    std::size_t pairs_per_network = 32;
    std::size_t pairs_per_meeting = 8;
    Duration idle_max = std::chrono::minutes(5);    // Time of a pair without a record.
    Duration stuck_max = std::chrono::seconds(30);  // Time in which a side takes no record.
    bool credit_is_needed = true;                   // Ends a side that sends more than its credit.
    bool networks_take_turns = true;
  };
  struct Options {
    // Bytes of records a second of all pairs together; nullopt: no bound; 0: no pair may open.
    std::optional<double> bytes_per_second = 12.5e6;
    Bounds bounds{};
  };
  explicit CameraRelay(Options options) : options_(options) {}

  static constexpr std::size_t record_bytes_max = std::size_t{64} << 10;
  // A record costs at least this many bytes of credit, because a short record is as much work as a
  // long one.
  static constexpr std::size_t record_cost_least = std::size_t{1} << 10;
  // The most bytes that are under way to a side and that its sender has credit for.
  static constexpr std::size_t window_to_guest = std::size_t{512} << 10;
  static constexpr std::size_t window_to_host = std::size_t{128} << 10;

  struct Pair {
    PairId id = 0;
    std::string meeting{};
    std::string network{};  // The network whose share the pair uses.
    bool is_local = false;  // Both sides are on this machine: the rate does not count.
  };
  struct Ended {
    PairId id = 0;
    std::string why{};  // One sentence for both sides.
  };
  // Opens a pair. If all places are taken, the oldest pair of the network with the most pairs gives
  // way, if that network has at least two more than the network of the new pair; its end is the
  // result. Fails with resource_exhausted at a bound.
  [[nodiscard]] Result<std::optional<Ended>> open(Pair pair, Instant now);
  // Has no effect if there is no such pair.
  void close(PairId id);
  [[nodiscard]] bool has(PairId id) const { return pairs_.contains(id); }
  [[nodiscard]] std::size_t size() const { return pairs_.size(); }

  // Counts a record that `sender` sends. Fails with resource_exhausted if the sender has too little
  // credit or the record is too long, and with not_found if there is no such pair.
  [[nodiscard]] Result<> sent(PairId id, Side sender, std::size_t bytes, Instant now);
  // Counts records that `receiver` has taken. Fails with invalid_argument if there were not so
  // many, and with not_found if there is no such pair.
  [[nodiscard]] Result<> taken(PairId id, Side receiver, std::size_t records, Instant now);

  struct Grant {
    PairId id = 0;
    Side sender = Side::host;
    std::size_t bytes = 0;
  };
  // Returns the credit that senders get now.
  [[nodiscard]] std::vector<Grant> grants(Instant now);
  // True if a side waits for credit, so that grants() must be called again soon.
  [[nodiscard]] bool waits() const { return !turns_.empty(); }
  // Removes and returns the pairs that are idle or stuck.
  [[nodiscard]] std::vector<Ended> expired(Instant now);

 private:
  // One direction of a pair, by its sender.
  struct Way {
    std::size_t window = 0;
    std::size_t credit = 0;                 // Bytes that the sender may still send.
    std::size_t owed = 0;                   // Bytes of the window without credit.
    std::deque<std::uint32_t> under_way{};  // Costs of the records that were not taken yet.
    Instant moved{};                        // Time of the last taken record.
    bool waits = false;                     // Is in `waiting_` or `local_`.
  };
  struct Open {
    Pair pair;
    Way from_host;
    Way from_guest;
    Instant since{};
    Instant last_record{};
  };
  struct Wish {
    PairId id = 0;
    Side sender = Side::host;
  };
  [[nodiscard]] static Way& way(Open& open, Side sender) {
    return sender == Side::host ? open.from_host : open.from_guest;
  }
  [[nodiscard]] std::size_t pairs_of_network(const std::string& network) const;
  [[nodiscard]] std::optional<PairId> yielding(const std::string& network) const;
  // The name of the pair's queue in `waiting_`.
  [[nodiscard]] std::string queue_of(const Open& open) const;
  void owe(Open& open, Side sender, std::size_t bytes);
  [[nodiscard]] Grant grant(Open& open, const Wish& wish, std::size_t bytes_max);

  const Options options_;
  std::map<PairId, Open> pairs_;
  TokenBucket bucket_;
  // Wishes of open pairs for credit, by network.
  std::map<std::string, std::deque<Wish>> waiting_;
  std::deque<std::string> turns_;  // The networks in `waiting_`, the next first.
  std::deque<Wish> local_;         // Wishes of pairs on this machine.
};

}  // namespace weft::coordinator
