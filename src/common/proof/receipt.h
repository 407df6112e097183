// A worker's signed statement over a batch of results. One signature covers a few results, because
// verifying a signature for each result would limit the throughput of the system. The statement
// names the nonces of worker and coordinator, so that neither can make the other sign for another
// session, and a Merkle root over the claims (claim_tree.h), so that one claim can be shown to a
// program on a chain (chain/program/receipts.h reads these bytes). The format is fixed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/result.h"

namespace weft::proof {

// Small enough that evidence of two claims, with the paths of both, fits into one transaction.
inline constexpr std::size_t receipt_claims_max = 8;

struct Claim {
  TaskId task;
  std::uint32_t attempt = 0;
  Hash root;
  // The part of the task that the claim is for, as its lease named it; a `count` of 0 stands for
  // the whole task. Parts are for audits and polls: a worker may be given several parts of one task
  // under one attempt.
  std::uint32_t first = 0;
  std::uint32_t count = 0;

  [[nodiscard]] bool whole() const { return count == 0; }
  friend bool operator==(const Claim&, const Claim&) = default;
};

// The place for which a receipt is signed. If the coordinator has no chain, genesis and program are
// zeros. Only the cluster's own program has the address zero, so that no program of ours accepts
// such a receipt.
struct ReceiptPlace {
  Hash genesis;  // The genesis hash of the cluster.
  PublicKey program;
  PublicKey coordinator;
  Hash session;  // The coordinator's nonce of the session.
  Hash worker;   // The worker's nonce of the session.
  friend bool operator==(const ReceiptPlace&, const ReceiptPlace&) = default;
};

// The text that is hashed and signed: "weft-receipt-2" || genesis || program || coordinator ||
// session || worker || root of the claims, 206 bytes.
[[nodiscard]] ByteVector receipt_statement(const ReceiptPlace& place,
                                           std::span<const Claim> claims);
[[nodiscard]] Hash receipt_digest(const ReceiptPlace& place, std::span<const Claim> claims);

// The claims, which are kept beside the statement: "weft-claims-2" || u32 n || n * (task id || u32
// attempt || root || u32 first || u32 count), little-endian; a task id is its job id || u32 index.
[[nodiscard]] ByteVector claims_text(std::span<const Claim> claims);

// A stored receipt, read back. Reading fails with data_loss if the claims do not give the
// statement.
struct KeptReceipt {
  ReceiptPlace place;
  std::vector<Claim> claims;
};
[[nodiscard]] Result<KeptReceipt> read_receipt(ByteSpan statement, ByteSpan claims);

}  // namespace weft::proof
