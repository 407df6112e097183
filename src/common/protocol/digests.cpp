#include "common/protocol/digests.h"

#include <algorithm>

#include "common/crypto/sha256.h"
#include "common/protocol/signing.h"

namespace weft::protocol {
namespace {

ByteVector digest_of(crypto::Sha256& digest) {
  const Hash hash = digest.finish();
  return {hash.bytes.begin(), hash.bytes.end()};
}

}  // namespace

ByteVector hello_digest(const PublicKey& coordinator, const Hash& nonce, const PublicKey& worker) {
  crypto::Sha256 digest;
  digest.update(as_bytes(std::string_view("weft-hello-1")))
      .update(coordinator.span())
      .update(nonce.span())
      .update(worker.span());
  return digest_of(digest);
}

ByteVector challenge_digest(const ChallengeProof& proof) {
  crypto::Sha256 digest;
  digest.update(as_bytes(std::string_view("weft-challenge-2")))
      .update(proof.coordinator.span())
      .update(proof.worker_nonce.span())
      .update(proof.worker.span())
      .update(proof.nonce.span())
      .update(proof.genesis.span())
      .update(proof.program.span())
      .update(as_bytes(proof.host));
  return digest_of(digest);
}

std::string canonical_host(std::string_view host) {
  for (const std::string_view port : {":80", ":443"}) {
    // An IPv6 address has to be in brackets, or its last group would be taken for a port.
    const bool is_bare_ipv6 = !host.starts_with('[') && host.find(':') != host.rfind(':');
    if (host.ends_with(port) && !is_bare_ipv6) {
      host.remove_suffix(port.size());
      break;
    }
  }
  std::string out(host);
  for (char& each : out) {
    if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
  }
  return out;
}

RequestTarget read_target(std::string_view text) {
  const auto decoded = [](std::string_view part, bool of_query) {
    std::string out;
    for (std::size_t i = 0; i < part.size(); ++i) {
      const auto byte = part[i] == '%' ? from_hex(part.substr(i + 1, 2)) : ByteVector();
      if (!byte || byte->size() != 1) {
        out += of_query && part[i] == '+' ? ' ' : part[i];
      } else {
        out += static_cast<char>(byte->front());
        i += 2;
      }
    }
    return out;
  };
  const std::size_t end = std::min(text.find('?'), text.size());
  RequestTarget target{.path = decoded(text.substr(0, end), false)};
  std::string_view rest = text.substr(std::min(end + 1, text.size()));
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    const std::size_t name = std::min(pair.find('='), pair.size());
    target.query.emplace(decoded(pair.substr(0, name), true),
                         decoded(pair.substr(std::min(name + 1, pair.size())), true));
    rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
  }
  return target;
}

ByteVector request_digest(const RequestClaim& claim, const SignedParts& parts) {
  ByteVector bytes;
  append(bytes, as_bytes(std::string_view("weft-request-2")));
  const auto text = [&](std::string_view value) {
    append_le(bytes, static_cast<std::uint32_t>(value.size()));
    append(bytes, as_bytes(value));
  };
  if (parts.coordinator) append(bytes, claim.coordinator.span());
  if (parts.method) text(claim.method);
  if (parts.target) {
    text(claim.target.path);
    append_le(bytes, static_cast<std::uint32_t>(claim.target.query.size()));
    for (const auto& [name, value] : claim.target.query) {
      text(name);
      text(value);
    }
  }
  if (parts.body) append(bytes, claim.body.span());
  if (parts.time) append_le(bytes, static_cast<std::uint64_t>(claim.time));
  append(bytes, claim.nonce);
  crypto::Sha256 digest;
  return digest_of(digest.update(bytes));
}

ByteVector identity_digest(const PublicKey& coordinator, ByteSpan nonce, std::string_view host) {
  crypto::Sha256 digest;
  digest.update(as_bytes(std::string_view("weft-identity-1")))
      .update(coordinator.span())
      .update(nonce)
      .update(as_bytes(host));
  return digest_of(digest);
}

ByteVector rotation_digest(const PublicKey& before, const PublicKey& after) {
  crypto::Sha256 digest;
  digest.update(as_bytes(std::string_view("weft-rotation-1")))
      .update(before.span())
      .update(after.span());
  return digest_of(digest);
}

ByteVector device_digest(const PublicKey& coordinator, const PublicKey& owner,
                         std::string_view role) {
  crypto::Sha256 digest;
  digest.update(as_bytes(std::string_view("weft-device-1")))
      .update(coordinator.span())
      .update(owner.span())
      .update(as_bytes(role));
  return digest_of(digest);
}

}  // namespace weft::protocol
