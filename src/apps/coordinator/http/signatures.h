// The client that signed a request (docs/http.md, "Signing"), and what was answered to it: a signed
// request holds for one coordinator, method, path, body and some minutes, and acts once.
//
// Threading: any. Lifetime: outlives what is asked through it. Bounds: SignatureSettings.
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

// Each field is one defence. Tests turn one off and see its attack succeed; no option of the
// command line does.
struct SignatureSettings {
  protocol::SignedParts parts = {};
  // How far the request's time may be from the coordinator's clock. 0: any time will do.
  Duration valid_for = std::chrono::minutes(5);
  // Answers are remembered by nonce: from the earliest to the latest moment at which the request's
  // time holds. 0: not at all.
  Duration remembered_for = std::chrono::minutes(10);
  std::size_t remembered_max = 65'536;
  std::size_t remembered_per_client = 1'024;  // The operator's own are not counted.
  std::uint64_t remembered_bytes_max = std::uint64_t{64} << 20;  // Bodies of answers.
};

class Signatures {
 public:
  using Act = std::function<void(const Signed& who, const net::Respond& respond)>;

  explicit Signatures(PublicKey coordinator, SignatureSettings settings = {},
                      std::function<UnixMillis()> clock = unix_now);

  // unauthenticated if a header is missing or malformed, the signature is of another request, or
  // its time is too far off. For what is read, and for what the store keys by the nonce.
  [[nodiscard]] Result<Signed> signer(const net::IncomingRequest& request) const;
  // The same for an upload, whose body has not come: the blob's hash stands for it.
  [[nodiscard]] Result<Signed> signer_of_blob(const net::IncomingRequest& request,
                                              const Hash& blob) const;
  // Verifies, and calls `act` for the first request with its nonce. The same request again is given
  // the first one's answer (when that is there), another one with this nonce 409. What was not
  // decided (429, 500 and above) is not remembered: it may be tried again.
  void once(const net::IncomingRequest& request, const net::Respond& respond, const Act& act);

  // A problem document; of unauthenticated it also says the coordinator's time.
  [[nodiscard]] net::Reply refusal(const Error& error) const;

 private:
  struct Remembered {
    UnixMillis until = 0;
    Hash request;  // All that was signed but the time: that may be another one in a second try.
    bool answered = false;
    net::Reply reply;
    std::vector<net::Respond> waiting;
  };
  using Key = std::pair<PublicKey, store::SubmitNonce>;
  struct Memory {
    std::map<Key, Remembered> requests;
    std::map<PublicKey, std::size_t> of;  // How many of them are a client's.
    std::deque<std::pair<UnixMillis, Key>> ends;
    std::uint64_t bytes = 0;

    void forget(Key key);
    void forget_old(UnixMillis now);
  };

  [[nodiscard]] Result<Signed> verify(const net::IncomingRequest& request, const Hash& body,
                                      Hash* without_time) const;
  // Nothing, if `act` is to be called.
  [[nodiscard]] std::optional<net::Reply> remember(const Key& key, const Hash& request,
                                                   const net::Respond& respond, bool& waits);

  const PublicKey coordinator_;
  const SignatureSettings settings_;
  const std::function<UnixMillis()> clock_;
  // Shared with answers that come later.
  const std::shared_ptr<Guarded<Memory>> memory_ = std::make_shared<Guarded<Memory>>();
};

}  // namespace weft::coordinator
