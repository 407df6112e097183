// The digests that a worker and a coordinator sign to prove that they hold their keys (crypto::sign
// takes the digest).
#pragma once

#include <string>
#include <string_view>

#include "common/base/bytes.h"
#include "common/base/ids.h"

namespace weft::protocol {

// The digest that a worker signs to prove that it holds its key. It is SHA-256("weft-hello-1" ||
// coordinator || nonce || worker).
[[nodiscard]] ByteVector hello_digest(const PublicKey& coordinator, const Hash& nonce,
                                      const PublicKey& worker);
// The digest that the coordinator signs to prove that it holds its key: SHA-256("weft-challenge-2"
// || coordinator || the worker's nonce || worker || nonce || genesis || program || host). Genesis
// and program are those of Challenge, so that a relay cannot make a worker sign for another chain.
// `host` is the name that the worker's connection asked for, as canonical_host() writes it. A
// coordinator answers for its own names only, so that a relay under another name cannot pass the
// signature on as its own.
struct ChallengeProof {
  PublicKey coordinator;
  Hash worker_nonce;
  PublicKey worker;
  Hash nonce;
  Hash genesis{};
  PublicKey program{};
  std::string_view host;
};
[[nodiscard]] ByteVector challenge_digest(const ChallengeProof& proof);
// A Host header, or the host and port of a URL, in lower case and without the default port of http
// or https.
[[nodiscard]] std::string canonical_host(std::string_view host);

}  // namespace weft::protocol
