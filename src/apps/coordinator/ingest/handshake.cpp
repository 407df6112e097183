#include "apps/coordinator/ingest/handshake.h"

#include <utility>
#include <vector>

#include "common/crypto/invitation.h"
#include "common/crypto/keys.h"
#include "common/protocol/codec.h"
#include "common/protocol/digests.h"
#include "common/protocol/versions.h"

namespace weft::coordinator {

namespace {

Hash random_hash() {
  Hash value;
  crypto::random_bytes(value.bytes);
  return value;
}

}  // namespace

Result<protocol::Challenge> Handshake::greet(const protocol::Hello& hello) {
  const auto chosen = protocol::common_version(hello.versions);
  if (!chosen) {
    const std::vector<std::uint32_t> none{0};
    return std::unexpected(
        Error{ErrorCode::unsupported,
              protocol::update_sentence(hello.kind, hello.versions.empty() ? none : hello.versions,
                                        protocol::version_list())});
  }
  hello_ = hello;
  nonce_ = random_hash();
  const Signature signature =
      parts_.sign(protocol::challenge_digest({.coordinator = parts_.coordinator,
                                              .worker_nonce = hello.nonce,
                                              .worker = hello.key,
                                              .nonce = nonce_,
                                              .genesis = parts_.genesis,
                                              .program = parts_.program,
                                              .host = parts_.host}));
  // The invitation file is named only to native workers, because tabs cannot read files.
  const bool native = hello.kind == protocol::WorkerKind::native;
  return protocol::Challenge{.version = *chosen,
                             .nonce = nonce_,
                             .coordinator = parts_.coordinator,
                             .signature = signature,
                             .genesis = parts_.genesis,
                             .program = parts_.program,
                             .invite_file = native ? parts_.invite_file : ""};
}

Result<jobs::Arrival> Handshake::prove(jobs::SessionId id, const protocol::Prove& prove) const {
  if (!crypto::verify_now(hello_.key,
                          protocol::hello_digest(parts_.coordinator, nonce_, hello_.key),
                          prove.signature))
    return fail(ErrorCode::unauthenticated,
                "The signature that proves the worker's key is not valid.");
  WEFT_ASSIGN(const trust::Invitation invited, invitation(prove.invite));
  return jobs::Arrival{.session = id,
                       .hello = hello_,
                       .blob_token = to_hex(random_hash().bytes),
                       .prefix = parts_.prefix,
                       .invitation = invited};
}

Result<trust::Invitation> Handshake::invitation(const std::string& invite) const {
  if (invite.empty()) return parts_.without;
  WEFT_ASSIGN(const crypto::Invitation shown,
              crypto::read_invitation(invite, parts_.coordinator, hello_.key, unix_now()));
  if (shown.kind == crypto::InvitationKind::client)
    return fail(ErrorCode::permission_denied,
                "The invitation is for a client, not for a worker. Ask the operator for a worker's "
                "invitation (weft invite).");
  return shown.kind == crypto::InvitationKind::verifier ? trust::Invitation::verifier
                                                        : trust::Invitation::worker;
}

}  // namespace weft::coordinator
