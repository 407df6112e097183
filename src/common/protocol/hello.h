// The messages with which a worker's connection begins, until each side has shown that it holds
// its key, and what holds for all messages: their version and the largest frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/protocol/capabilities.h"

namespace weft::protocol {

inline constexpr std::uint32_t version = 7;
inline constexpr std::size_t frame_bytes_max = std::size_t{1} << 20;

// A million credits for a compute unit.
inline constexpr std::uint64_t price_min_max = 1'000'000'000'000;

struct Hello {
  std::vector<std::uint32_t> versions{};
  PublicKey key{};
  Hash nonce{};  // 32 random bytes of this connection, which the coordinator signs.
  WorkerKind kind = WorkerKind::native;
  std::string software{};   // "weft/0.1.0".
  std::uint32_t slots = 1;  // Tasks it wants to hold at a time.
  Capabilities capabilities{};
  // 0: its tasks run in turn, each with all of the memory. Otherwise they run at a time, in time
  // slices, each in a partition of so many bytes, or of as many as its job requires where that is
  // more.
  std::uint64_t slice_memory_bytes = 0;
  // The least for a compute unit that it accepts, in micro-credits; it gets no job below.
  std::uint64_t price_min = 0;
};
struct Challenge {
  std::uint32_t version = protocol::version;  // Chosen from Hello::versions.
  Hash nonce{};  // 32 random bytes: also the session's nonce in receipts.
  PublicKey coordinator{};
  Signature signature{};  // Signs challenge_digest(): it holds this key and has this name.
  // The chain on which receipts of this coordinator count, for what is signed (proof/receipt.h);
  // zeros where it settles on none.
  Hash genesis{};
  PublicKey program{};
  // On loopback, to native workers: where the operator's own processes find an invitation.
  std::string invite_file{};
};
struct Prove {
  Signature signature{};  // Signs hello_digest(coordinator, nonce, worker).
  std::string invite{};   // The operator's invitation (crypto/invitation.h), where it has one.
};
struct Welcome {
  std::string session{};
  std::uint32_t beat_ms = 1000;  // Between Beats while a lease is held.
  std::string blob_token{};      // For PUT /v1/blobs: Authorization: Bearer TOKEN.
  MicroCredits balance = 0;
};

}  // namespace weft::protocol
