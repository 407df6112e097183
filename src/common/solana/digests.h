// The digests that people and devices sign for settlement. Each is the SHA-256 of a word for the
// kind of message and of everything that it is meant for, so that no signature is valid at another
// network, program or cluster.
#pragma once

#include "common/base/ids.h"

namespace weft::solana {

struct SigningPlace {
  Hash genesis;  // The genesis hash of the cluster.
  PublicKey program;
  PublicKey config;
};
// The digest of a voucher: a client allows that `cumulative` micro-credits of its deposit are
// charged in all since the start.
[[nodiscard]] Hash voucher_digest(const SigningPlace& place, const PublicKey& owner,
                                  std::uint64_t cumulative);
// The coordinator's statement of what an owner has earned from the start up to an epoch.
struct EarningStatement {
  PublicKey owner;
  std::uint64_t epoch = 0;
  std::uint64_t amount = 0;
  std::uint64_t units = 0;
};
[[nodiscard]] Hash statement_digest(const SigningPlace& place, const EarningStatement& statement);
// The parts of a receipt, which a device signs for the results of a session: both sides' nonces and
// the Merkle root of claims.
struct ReceiptParts {
  PublicKey coordinator;
  Hash session;
  Hash worker;
  Hash root;
};
[[nodiscard]] Hash receipt_digest(const SigningPlace& place, const ReceiptParts& parts);

}  // namespace weft::solana
