// Direct links between members of chains, as a worker's platform makes them: TLS between native
// workers, WebRTC between tabs.
//
// Threading: the worker's thread; no event comes inside the call that asks for it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/bytes.h"
#include "common/protocol/serving.h"

namespace weft::worker {

// Sends hops without the coordinator. If no link to a member opens, the coordinator relays its
// hops.
class PeerLines {
 public:
  virtual ~PeerLines() = default;
  struct Other {
    std::uint32_t member = 0;
    std::string line{};   // Link that the member offers: "webrtc", "tcp://...".
    std::string token{};  // Token of this worker and the member, for this epoch.
  };
  struct Chain {
    std::uint32_t chain = 0;
    std::uint32_t epoch = 0;
    std::uint32_t index = 0;  // Index of this worker in the chain.
    std::vector<Other> others{};
    std::vector<protocol::serving::IceServer> ice{};
  };
  struct Events {
    std::function<void(std::uint32_t to, std::string signal)>
        signal;  // Called with a signal for that member.
    std::function<void(std::uint32_t member, ByteVector frame)> frame;
    std::function<void(std::uint32_t member, std::string_view line)> open;
    // Called at the end of a link, even if it never opened.
    std::function<void(std::uint32_t member)> closed;
  };
  // Opens links to the other members of the chain; in each pair the member with the smaller number
  // calls. Earlier links of the chain are closed.
  virtual void open(Chain chain, Events events) = 0;
  virtual void signal(std::uint32_t chain, std::uint32_t epoch, std::uint32_t from,
                      std::string text) = 0;
  // Returns false if there is no link to that member.
  [[nodiscard]] virtual bool send(std::uint32_t chain, std::uint32_t member, ByteSpan frame) = 0;
  virtual void close(std::uint32_t chain) = 0;
};

}  // namespace weft::worker
