// The two steps in which a worker and the coordinator show each other their keys: Hello is answered
// with a signed Challenge, and Prove makes the worker's arrival of it.
//
// Threading: one thread at a time; the accessors from any, once greet() has returned.
#pragma once

#include <functional>
#include <string>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/protocol/coordinator_message.h"
#include "common/protocol/hello.h"
#include "decisions/jobs/events.h"
#include "decisions/trust/levels.h"

namespace weft::coordinator {

class Handshake {
 public:
  struct Parts {
    PublicKey coordinator;
    std::function<Signature(ByteSpan)> sign;  // With the coordinator's key.
    std::string host;  // What the worker's connection asked for (canonical_host).
    // Told to native workers that come over loopback; empty: none are.
    std::string invite_file{};
    // The chain on which receipts count; zeros: none.
    Hash genesis{};
    PublicKey program{};
    std::string prefix{};  // The worker's network, as net::address_prefix() has it.
    // The invitation of workers that show none.
    trust::Invitation without = trust::Invitation::none;
  };
  explicit Handshake(Parts parts) : parts_(std::move(parts)) {}

  // unsupported: there is no version that both speak.
  [[nodiscard]] Result<protocol::Challenge> greet(const protocol::Hello& hello);
  // To call after greet(). Fails with unauthenticated if the signature is not one of the worker's
  // key, with permission_denied if the invitation is one for clients, and as
  // crypto::read_invitation() does.
  [[nodiscard]] Result<jobs::Arrival> prove(jobs::SessionId id, const protocol::Prove& prove) const;

  [[nodiscard]] const PublicKey& worker() const { return hello_.key; }
  // What the coordinator's and the worker's signatures of this session are about.
  [[nodiscard]] const Hash& nonce() const { return nonce_; }
  [[nodiscard]] const Hash& worker_nonce() const { return hello_.nonce; }

 private:
  [[nodiscard]] Result<trust::Invitation> invitation(const std::string& invite) const;

  const Parts parts_;
  protocol::Hello hello_;
  Hash nonce_;
};

}  // namespace weft::coordinator
