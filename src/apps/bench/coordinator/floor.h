// What no coordinator on this transport can be faster than: the same HTTP and WebSocket messages
// through the same server, and a file that is synced for groups of them, with nothing decided,
// parsed, checked, signed or paid. A submission is written and answered, a worker that waits is
// told at once, a result is written and has its verdict. With check_signatures() also the two
// Ed25519 signatures of a lifecycle are verified, the submission's and the receipt's, and a result
// has its verdict when the receipt has come: still nothing is decided, parsed further, paid or put
// into a database.
//
// Threading: handlers run on the server's threads; start() and stop() on one. One a process, as the
// server is.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "common/base/result.h"

namespace weft::coordinator::bench {

class Floor {
 public:
  // `folder` takes the file.
  [[nodiscard]] static Result<std::unique_ptr<Floor>> start(const std::filesystem::path& folder);
  virtual ~Floor() = default;
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  // Only while no client is connected.
  virtual void check_signatures(bool checks) = 0;
};

}  // namespace weft::coordinator::bench
