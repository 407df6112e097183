// Holds connections to a port from many addresses of loopback. Each connection behaves as its kind
// says (attacks.h). A connection that was closed is opened again a second later.
//
// Threading: made and finished on one thread; works on a thread of its own, which uses at most the
// given share of a core.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "apps/bench/hostile/attacks.h"
#include "common/base/result.h"

namespace weft::coordinator::bench {

class Generator {
 public:
  struct Options {
    std::uint16_t port = 0;
    std::size_t connections = 10'000;
    std::size_t addresses = 1'000;  // Addresses from 127.64.0.1 on; at most 65,534.
    double share = 0.5;             // Most of a core that the thread may use.
    std::vector<Attack> kinds;      // Connection i attacks as kinds[i % kinds.size()].
  };
  struct Tally {
    std::string name;
    std::uint64_t opened = 0;    // Connections that were opened.
    std::uint64_t unopened = 0;  // Connections that could not be opened.
    std::uint64_t answered = 0;  // Replies of status 1xx to 3xx.
    std::uint64_t refused = 0;   // Replies of status 4xx and 5xx.
    std::uint64_t ended = 0;     // Connections closed by the coordinator.
  };
  // Fails with unavailable if this process cannot have enough file descriptors.
  [[nodiscard]] static Result<std::unique_ptr<Generator>> start(Options options);
  Generator(const Generator&) = delete;
  ~Generator();

  [[nodiscard]] std::size_t open() const { return open_; }
  // Closes all connections and returns the counts of each kind.
  [[nodiscard]] std::vector<Tally> finish();
  // The share of a core that the thread used. Call after finish().
  [[nodiscard]] double share_used() const { return share_used_; }

 private:
  enum class State : std::uint8_t { closed, connecting, open };
  struct Connection {
    int file = -1;
    State state = State::closed;
    std::size_t kind = 0;
    std::string out;     // Bytes not sent yet.
    bool begun = false;  // A reply's first bytes were read.
    bool upgraded = false;
    Instant next{};  // Time of the next drip or reopening.
  };
  explicit Generator(Options options, int poll);
  void work(const std::stop_token& stop);
  void open(std::size_t index);
  void close(std::size_t index, bool by_other);
  void flush(std::size_t index);
  void read(std::size_t index);
  void look(std::size_t index, std::string_view said);

  const Options options_;
  const int poll_;
  std::vector<Connection> connections_;
  std::vector<Tally> tallies_;
  std::atomic<std::size_t> open_ = 0;
  double share_used_ = 0;  // Used by the thread until it is joined.
  std::jthread thread_;
};

// The pause of a thread that used `used` of processor time in `wall`, so that it stays below
// `share`.
[[nodiscard]] Duration rest_after(Duration used, Duration wall, double share);

}  // namespace weft::coordinator::bench
