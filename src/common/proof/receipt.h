// A worker's signed statement over a batch of results. One signature for many, since verifying one
// a result would cap the system. The digest is fixed.
#pragma once

#include <cstdint>
#include <span>

#include "common/base/bytes.h"
#include "common/base/ids.h"

namespace weft::proof {

struct Claim {
  TaskId task;
  std::uint32_t attempt = 0;
  Hash root;
};

// SHA-256("weft-receipt-1" || coordinator key || session nonce || u32 n || n * (task id || u32
// attempt || root)), little-endian; a task id is its job id || u32 index.
[[nodiscard]] ByteVector receipt_statement(const PublicKey& coordinator, const Hash& session_nonce,
                                           std::span<const Claim> claims);  // Before hashing.
[[nodiscard]] Hash receipt_digest(const PublicKey& coordinator, const Hash& session_nonce,
                                  std::span<const Claim> claims);

}  // namespace weft::proof
