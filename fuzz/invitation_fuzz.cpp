// Fuzzes the invitation that a worker shows: every invitation that is accepted was signed by the
// coordinator, to the last digit; all others are refused. Only the corpus has signed invitations.
#include <algorithm>
#include <array>
#include <string>

#include "common/base/check.h"
#include "common/crypto/invitation.h"

namespace {

using namespace weft;

// The time at which the invitations of the corpus end.
constexpr UnixMillis until = 4'102'444'800'000;
PublicKey invited() {
  PublicKey key;
  key.bytes.fill(3);
  return key;
}

const crypto::KeyPair& coordinator() {
  static const crypto::KeyPair key = [] {
    std::array<std::uint8_t, 32> seed{};
    seed.fill(7);
    return crypto::KeyPair::from_seed(seed).value();
  }();
  return key;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const PublicKey key = coordinator().public_key();
  const auto read = crypto::read_invitation(text, key, invited(), until - 1);
  if (!read) {
    check(!read.error().message.empty(), "a refusal says why");
    return 0;
  }
  check(text.size() <= crypto::invitation_bytes_max, "an invitation is within its bound");
  check(read->until == until, "no time but the signed one");
  const bool for_any = read->kind == crypto::InvitationKind::worker && read->wallet == PublicKey{};
  const bool for_one = read->kind == crypto::InvitationKind::verifier && read->wallet == invited();
  check(for_any || for_one, "no invitation but those that were signed");
  check(!crypto::read_invitation(text, key, invited(), until), "it is over at its time");
  check(for_any == crypto::read_invitation(text, key, key, until - 1).has_value(),
        "what is for one wallet is for no other");
  PublicKey other = key;
  other.bytes[0] ^= 1;
  check(!crypto::read_invitation(text, other, invited(), until - 1),
        "it counts at one coordinator");
  return 0;
}
