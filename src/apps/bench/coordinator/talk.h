// What clients and workers of the benchmarks send and compute: the counting job, signed requests,
// results with their roots, receipts. Pure but for the file of the invitation. Threading: any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/bytes.h"
#include "common/crypto/keys.h"
#include "common/protocol/coordinator_message.h"
#include "common/protocol/result_frame.h"

namespace weft::coordinator::bench {

// Signatures cost time that some measurements must not have: without them zeros stand there, for a
// server that does not look (floor.h).
enum class Signing : std::uint8_t { real, zeros };
[[nodiscard]] Signature sign(const crypto::KeyPair& key, ByteSpan message, Signing signing);

// y[i] = i. A slice is a workgroup of four elements, which can be computed alone.
struct CountingJob {
  std::string name;
  std::uint32_t tasks = 1;
  std::uint32_t slices = 1;  // A task's.
  std::uint32_t replicas = 1;
  bool agreement_alone = false;  // Its client asks for agreement alone.
  std::uint32_t budget = 1;
};
inline constexpr std::uint32_t slice_values = 4;
[[nodiscard]] std::string manifest_of(const CountingJob& job);
// What the shader computes in so many slices from `first` on.
[[nodiscard]] ByteVector counted(std::uint32_t first, std::uint32_t count);

// The header lines, each with its CRLF, that sign a request.
[[nodiscard]] std::string signed_headers(const crypto::KeyPair& wallet,
                                         const PublicKey& coordinator, std::string_view method,
                                         std::string_view path, std::string_view body,
                                         Signing signing = Signing::real);

// As a worker of this machine's user finds it; empty where it cannot be read.
[[nodiscard]] std::string invitation_of(const protocol::Challenge& challenge);
[[nodiscard]] std::string proof_text(const crypto::KeyPair& key,
                                     const protocol::Challenge& challenge, std::string invitation);

struct Timing {
  double gpu_seconds = 1e-6;
  double wall_seconds = 1e-6;
};
// The one output of a task, in the frame.
[[nodiscard]] protocol::ResultFrame result_of(const TaskId& task, std::uint32_t attempt,
                                              ByteVector output, const Timing& timing = {});
// For the session that the challenge began, with a hello whose nonce is zeros; at most
// proof::receipt_claims_max items.
[[nodiscard]] protocol::Receipt receipt_of(const crypto::KeyPair& key,
                                           const protocol::Challenge& challenge,
                                           std::vector<protocol::ReceiptItem> items,
                                           Signing signing = Signing::real);

}  // namespace weft::coordinator::bench
