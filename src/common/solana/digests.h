// What people and devices sign for settlement: SHA-256 of a word that names the kind of message and
// of all that it is meant for, so that no signature counts at another network, program or cluster.
#pragma once

#include "common/base/ids.h"

namespace weft::solana {

struct SigningPlace {
  Hash genesis;  // The cluster's.
  PublicKey program;
  PublicKey config;
};
// A client allows that `cumulative` micro-credits of its deposit are charged, since the start.
[[nodiscard]] Hash voucher_digest(const SigningPlace& place, const PublicKey& owner,
                                  std::uint64_t cumulative);
// The coordinator states what an owner has earned since the start, up to an epoch.
struct EarningStatement {
  PublicKey owner;
  std::uint64_t epoch = 0;
  std::uint64_t amount = 0;
  std::uint64_t units = 0;
};
[[nodiscard]] Hash statement_digest(const SigningPlace& place, const EarningStatement& statement);
// A device signs for the results of a session: both sides' nonces and the Merkle root of claims.
struct ReceiptParts {
  PublicKey coordinator;
  Hash session;
  Hash worker;
  Hash root;
};
[[nodiscard]] Hash receipt_digest(const SigningPlace& place, const ReceiptParts& parts);

}  // namespace weft::solana
