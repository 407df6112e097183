// The messages that begin a worker's connection, until each side has proved that it holds its key,
// and two constants for all messages: their version and the largest frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/protocol/capabilities.h"

namespace weft::protocol {

inline constexpr std::uint32_t version = 8;
inline constexpr std::size_t frame_bytes_max = std::size_t{1} << 20;

// The greatest price_min: a million credits for a compute unit.
inline constexpr std::uint64_t price_min_max = 1'000'000'000'000;

struct Hello {
  std::vector<std::uint32_t> versions{};
  PublicKey key{};
  Hash nonce{};  // 32 random bytes for this connection, which the coordinator signs.
  WorkerKind kind = WorkerKind::native;
  std::string software{};   // "weft/0.1.0".
  std::uint32_t slots = 1;  // The number of tasks that the worker wants to hold at a time.
  Capabilities capabilities{};
  // 0: the worker's tasks run in turn, each with all of the memory. Otherwise they run at the same
  // time, in time slices, each in a partition of this size, or of the size that its job requires if
  // that is larger.
  std::uint64_t slice_memory_bytes = 0;
  // The least price of a compute unit that the worker accepts, in micro-credits. The worker gets no
  // jobs with a lower price.
  std::uint64_t price_min = 0;
};
struct Challenge {
  std::uint32_t version = protocol::version;  // Chosen from Hello::versions.
  Hash nonce{};  // 32 random bytes, which are also the session's nonce in receipts.
  PublicKey coordinator{};
  // Signs challenge_digest(), to prove that the coordinator holds this key and has this name.
  Signature signature{};
  // The cluster and the program of the chain on which this coordinator's receipts count; workers
  // sign them in their receipts (proof/receipt.h). Zeros if the coordinator settles on no chain.
  Hash genesis{};
  PublicKey program{};
  // The file in which the operator's own processes find an invitation. It is sent only to native
  // workers over loopback.
  std::string invite_file{};
};
struct Prove {
  Signature signature{};  // Signs hello_digest(coordinator, nonce, worker).
  std::string invite{};   // The operator's invitation (crypto/invitation.h), if the worker has one.
};
struct Welcome {
  std::string session{};
  std::uint32_t beat_ms = 1000;  // The time between heartbeats while a lease is held.
  std::string blob_token{};      // For PUT /v1/blobs, as "Authorization: Bearer TOKEN".
  MicroCredits balance = 0;
};

}  // namespace weft::protocol
