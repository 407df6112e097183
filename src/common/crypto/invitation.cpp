#include "common/crypto/invitation.h"

#include <algorithm>
#include <array>

#include "common/base/bytes.h"
#include "common/crypto/sha256.h"

namespace weft::crypto {
namespace {

constexpr std::string_view prefix = "weft-";
constexpr std::size_t random_bytes_count = 16;
// The signed statement: version, kind, time, wallet, random bytes.
constexpr std::size_t statement_bytes = 1 + 1 + 8 + sizeof(PublicKey::bytes) + random_bytes_count;
constexpr std::size_t all_bytes = statement_bytes + sizeof(Signature::bytes);

Hash digest_of(ByteSpan statement) {
  constexpr std::string_view domain = "weft-invitation-1";
  ByteVector text(as_bytes(domain).begin(), as_bytes(domain).end());
  text.insert(text.end(), statement.begin(), statement.end());
  return sha256(text);
}

}  // namespace

std::string write_invitation(const KeyPair& coordinator, const Invitation& invitation) {
  ByteVector bytes{1, static_cast<std::uint8_t>(invitation.kind)};
  append_le(bytes, static_cast<std::uint64_t>(invitation.until));
  bytes.insert(bytes.end(), invitation.wallet.bytes.begin(), invitation.wallet.bytes.end());
  std::array<std::uint8_t, random_bytes_count> random{};
  random_bytes(random);
  bytes.insert(bytes.end(), random.begin(), random.end());
  const Signature signature = coordinator.sign_now(digest_of(bytes).span());
  bytes.insert(bytes.end(), signature.bytes.begin(), signature.bytes.end());
  return std::string(prefix) + to_hex(bytes);
}

Result<Invitation> read_invitation(std::string_view text, const PublicKey& coordinator,
                                   const PublicKey& wallet, UnixMillis now) {
  const auto none = [] {
    return fail(ErrorCode::invalid_argument,
                "This is not an invitation: one is \"weft-\" and 244 hexadecimal digits, as `weft "
                "invite` prints it.");
  };
  if (!text.starts_with(prefix) || text.size() != prefix.size() + 2 * all_bytes) return none();
  const auto bytes = from_hex(text.substr(prefix.size()));
  if (!bytes || bytes->size() != all_bytes || bytes->front() != 1) return none();
  const auto kind = static_cast<InvitationKind>((*bytes)[1]);
  if (kind < InvitationKind::worker || kind > InvitationKind::own) return none();
  const ByteSpan statement = ByteSpan(*bytes).first(statement_bytes);
  Signature signature;
  std::ranges::copy(ByteSpan(*bytes).subspan(statement_bytes), signature.bytes.begin());
  if (!verify_now(coordinator, digest_of(statement).span(), signature))
    return fail(ErrorCode::permission_denied,
                "The invitation is for another coordinator; ask the operator of this one for an "
                "invitation.");
  Invitation invitation{.kind = kind, .until = 0, .wallet = {}};
  std::uint64_t until = 0;
  for (std::size_t i = 0; i < sizeof until; ++i)
    until |= static_cast<std::uint64_t>(statement[2 + i]) << (8 * i);
  invitation.until = static_cast<UnixMillis>(until);
  std::ranges::copy(statement.subspan(2 + sizeof until, invitation.wallet.bytes.size()),
                    invitation.wallet.bytes.begin());
  if (now >= invitation.until)
    return fail(ErrorCode::permission_denied,
                "The invitation has expired; ask the operator for another one.");
  if (invitation.wallet != PublicKey{} && invitation.wallet != wallet)
    return fail(ErrorCode::permission_denied, "The invitation is for another wallet, {}.",
                invitation.wallet.text());
  return invitation;
}

}  // namespace weft::crypto
