// The digests that a client's wallet signs. Each kind has a prefix of its own, so that a signature
// over one kind is not valid for another.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "common/base/bytes.h"
#include "common/base/ids.h"

namespace weft::protocol {

// A request's path and query with percent-encoding decoded. The coordinator acts on these, so the
// spelling that a proxy uses makes no difference.
struct RequestTarget {
  std::string path = {};
  std::map<std::string, std::string> query = {};
};
// Reads a target such as "/v1/models/a%20b?from=1". A percent sign that two hex digits do not
// follow stays a percent sign.
[[nodiscard]] RequestTarget read_target(std::string_view text);

inline constexpr std::size_t request_nonce_bytes = 16;

// The parts of a request that its signature covers.
struct RequestClaim {
  PublicKey coordinator = {};  // The coordinator that the request is meant for.
  std::string_view method = {};
  RequestTarget target = {};
  // SHA-256 of the body. For an upload it is the blob's hash, and for a part of an upload it is
  // part_digest() (part_claim.h).
  Hash body = {};
  std::int64_t time = 0;  // Milliseconds since 1970, by the client's clock.
  ByteSpan nonce = {};    // A nonce of request_nonce_bytes bytes.
};
// The parts of a claim that are covered: all of them, except in tests, which show the attack that
// each part stops.
struct SignedParts {
  bool coordinator = true;
  bool method = true;
  bool target = true;
  bool body = true;
  bool time = true;
};
// SHA-256("weft-request-2" || coordinator || text(method) || text(path) || count of the query's
// members || text(name) || text(value) of each, by name || body || time || nonce). Numbers are
// little-endian: counts and lengths u32, the time u64; text is its length and its bytes.
[[nodiscard]] ByteVector request_digest(const RequestClaim& claim, const SignedParts& parts = {});

// The digest that a coordinator signs to prove that it holds its key and has this name: SHA-256(
// "weft-identity-1" || coordinator || nonce || host). `host` is canonical_host() of the name that
// the client asked for, so that a coordinator under another name cannot pass the signature on as
// its own.
[[nodiscard]] ByteVector identity_digest(const PublicKey& coordinator, ByteSpan nonce,
                                         std::string_view host);

// The digest that the old key of a coordinator signs so that clients accept the new key:
// SHA-256("weft-rotation-1" || old || new).
[[nodiscard]] ByteVector rotation_digest(const PublicKey& before, const PublicKey& after);

// The digest that a key signs to become a device of an owner at one coordinator, in the role "full"
// or "recovery": SHA-256("weft-device-1" || coordinator || owner || role).
[[nodiscard]] ByteVector device_digest(const PublicKey& coordinator, const PublicKey& owner,
                                       std::string_view role);

}  // namespace weft::protocol
