// Verifies signed requests (docs/http.md, "Signing") and remembers their answers. A signed request
// is valid for one coordinator, method, path, body and some minutes, and is carried out once.
//
// Threading: any. Lifetime: outlives the handlers that use it. Bounds: SignatureSettings.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/coordinator/ingest/submission.h"
#include "common/base/clock.h"
#include "common/base/guarded.h"
#include "common/protocol/signing.h"
#include "platform/net/http.h"

namespace weft::coordinator {

// Defences, one in each field. Tests turn one off to see its attack succeed; the command line has
// no option for them.
struct SignatureSettings {
  protocol::SignedParts parts = {};
  // The allowed difference between the request's time and the coordinator's clock. 0 allows any
  // time.
  Duration valid_for = std::chrono::minutes(5);
  // The time for which answers are remembered by nonce: as long as the request's time can be valid.
  // 0 remembers none.
  Duration remembered_for = std::chrono::minutes(10);
  std::size_t remembered_max = 65'536;
  // Requests of one client; the operator is not bounded.
  std::size_t remembered_per_client = 1'024;
  // Most bytes of all remembered replies together.
  std::uint64_t remembered_bytes_max = std::uint64_t{64} << 20;
};

class Signatures {
 public:
  using Act = std::function<void(const Signed& who, const net::Respond& respond)>;

  explicit Signatures(PublicKey coordinator, SignatureSettings settings = {},
                      std::function<UnixMillis()> clock = unix_now);

  // The client that signed the request. Fails with unauthenticated if a header is missing or
  // malformed, the signature does not fit, or the time is too far off. Used for reads and for
  // requests whose nonce the store remembers.
  [[nodiscard]] Result<Signed> signer(const net::IncomingRequest& request) const;
  // The client that signed an upload whose body has not arrived. The signature covers the blob's
  // hash instead of the body.
  [[nodiscard]] Result<Signed> signer_of_blob(const net::IncomingRequest& request,
                                              const Hash& blob) const;
  // Verifies the request and calls `act` if it is the first request with its nonce. A repetition
  // gets the reply of the first request, once that exists; a different request with this nonce gets
  // 409. Temporary failures (429, 500 and above) are not remembered, so that the client can try
  // again.
  void once(const net::IncomingRequest& request, const net::Respond& respond, const Act& act);

  // A problem document. With the code unauthenticated it contains the coordinator's time.
  [[nodiscard]] net::Reply refusal(const Error& error) const;

 private:
  struct Remembered {
    UnixMillis until = 0;
    Hash request;  // Digest without the time, which a retry may change.
    bool answered = false;
    net::Reply reply;
    std::vector<net::Respond> waiting;
  };
  using Key = std::pair<PublicKey, store::SubmitNonce>;
  struct Memory {
    std::map<Key, Remembered> requests;
    std::map<PublicKey, std::size_t> of;  // Number of remembered requests by client.
    std::deque<std::pair<UnixMillis, Key>> ends;
    std::uint64_t bytes = 0;

    void forget(Key key);
    void forget_old(UnixMillis now);
  };

  [[nodiscard]] Result<Signed> verify(const net::IncomingRequest& request, const Hash& body,
                                      Hash* without_time) const;
  // Returns the reply for a request that was remembered or must be refused. No value if `act` must
  // be called, or if the request waits for the reply of an earlier one (`waits`).
  [[nodiscard]] std::optional<net::Reply> remember(const Key& key, const Hash& request,
                                                   const net::Respond& respond, bool& waits);

  const PublicKey coordinator_;
  const SignatureSettings settings_;
  const std::function<UnixMillis()> clock_;
  // Shared with replies that come after this object has ended.
  const std::shared_ptr<Guarded<Memory>> memory_ = std::make_shared<Guarded<Memory>>();
};

}  // namespace weft::coordinator
