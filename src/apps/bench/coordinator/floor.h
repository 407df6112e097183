// A server that does the least work possible on this transport, as a lower bound for every
// coordinator: it uses the coordinator's HTTP and WebSocket messages and server, and a file that is
// synced once for a group of messages. It decides, parses, checks, signs and pays nothing. A
// submission is written and answered, a waiting worker is told of it at once, a result is written
// and gets its verdict. With check_signatures() it also verifies the two Ed25519 signatures of a
// lifecycle (of the submission and of the receipt), and a result gets its verdict when the receipt
// has arrived.
//
// Threading: handlers run on the server's threads; start() and the destructor on one thread. A
// process has at most one floor, because it has at most one server.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "common/base/result.h"

namespace weft::coordinator::bench {

class Floor {
 public:
  // Starts the server; its file is made in `folder`.
  [[nodiscard]] static Result<std::unique_ptr<Floor>> start(const std::filesystem::path& folder);
  virtual ~Floor() = default;
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  // Turns the verification of signatures on or off. Call only while no client is connected.
  virtual void check_signatures(bool checks) = 0;
};

}  // namespace weft::coordinator::bench
