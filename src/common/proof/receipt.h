// A worker's signed statement over a batch of results. One signature for a few, since verifying one
// a result would cap the system. It names both sides' nonces, so that neither can make the other
// sign for another session, and a Merkle root over the claims (claim_tree.h), so that a program on
// a chain can be shown one claim (chain/program/receipts.h reads the same bytes). Fixed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/result.h"

namespace weft::proof {

// Evidence of two claims, with the paths of both, has to fit into one transaction.
inline constexpr std::size_t receipt_claims_max = 8;

struct Claim {
  TaskId task;
  std::uint32_t attempt = 0;
  Hash root;
  // The part of the task that it is about, as its lease named it; `count` 0: the whole task. Parts
  // are audits and polls: a worker may be given several of one task under one attempt.
  std::uint32_t first = 0;
  std::uint32_t count = 0;

  [[nodiscard]] bool whole() const { return count == 0; }
  friend bool operator==(const Claim&, const Claim&) = default;
};

// What a receipt is signed for. Without a chain genesis and program are zeros: no program has the
// address zero but the cluster's own, so that no program of ours takes such a receipt.
struct ReceiptPlace {
  Hash genesis;  // The cluster's.
  PublicKey program;
  PublicKey coordinator;
  Hash session;  // The coordinator's nonce.
  Hash worker;   // The worker's nonce.
  friend bool operator==(const ReceiptPlace&, const ReceiptPlace&) = default;
};

// What is hashed and signed: "weft-receipt-2" || genesis || program || coordinator || session ||
// worker || root of the claims, 206 bytes.
[[nodiscard]] ByteVector receipt_statement(const ReceiptPlace& place,
                                           std::span<const Claim> claims);
[[nodiscard]] Hash receipt_digest(const ReceiptPlace& place, std::span<const Claim> claims);

// The claims beside the statement: "weft-claims-2" || u32 n || n * (task id || u32 attempt || root
// || u32 first || u32 count), little-endian; a task id is its job id || u32 index.
[[nodiscard]] ByteVector claims_text(std::span<const Claim> claims);

// A receipt that was kept, read back. data_loss if the claims do not make the statement.
struct KeptReceipt {
  ReceiptPlace place;
  std::vector<Claim> claims;
};
[[nodiscard]] Result<KeptReceipt> read_receipt(ByteSpan statement, ByteSpan claims);

}  // namespace weft::proof
