// The messages and computations of the benchmarks' clients and workers: the counting job, signed
// requests, results with their roots, receipts. Pure except for the invitation's file. Threading:
// any.
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

// Real signatures, or zeros for a server that does not verify them (floor.h), because some
// measurements must not include the time of signing.
enum class Signing : std::uint8_t { real, zeros };
[[nodiscard]] Signature sign(const crypto::KeyPair& key, ByteSpan message, Signing signing);

// The counting job, which computes y[i] = i. A slice is a workgroup of four elements, which can be
// computed alone.
struct CountingJob {
  std::string name;
  std::uint32_t tasks = 1;
  std::uint32_t slices = 1;  // Number of slices of one task.
  std::uint32_t replicas = 1;
  bool agreement_alone = false;  // Results need only agreement of workers.
  std::uint32_t budget = 1;
};
inline constexpr std::uint32_t slice_values = 4;
[[nodiscard]] std::string manifest_of(const CountingJob& job);
// The shader's output for `count` slices from slice `first` on.
[[nodiscard]] ByteVector counted(std::uint32_t first, std::uint32_t count);

// The header lines that sign a request, each with its CRLF.
[[nodiscard]] std::string signed_headers(const crypto::KeyPair& wallet,
                                         const PublicKey& coordinator, std::string_view method,
                                         std::string_view path, std::string_view body,
                                         Signing signing = Signing::real);

// The invitation in the file that the challenge names, as a worker on this machine reads it; empty
// if the file cannot be read.
[[nodiscard]] std::string invitation_of(const protocol::Challenge& challenge);
[[nodiscard]] std::string proof_text(const crypto::KeyPair& key,
                                     const protocol::Challenge& challenge, std::string invitation);

struct Timing {
  double gpu_seconds = 1e-6;
  double wall_seconds = 1e-6;
};
// The frame of a result whose only output is `output`.
[[nodiscard]] protocol::ResultFrame result_of(const TaskId& task, std::uint32_t attempt,
                                              ByteVector output, const Timing& timing = {});
// A receipt for the session of the challenge, whose hello had a nonce of zeros. It takes at most
// proof::receipt_claims_max items.
[[nodiscard]] protocol::Receipt receipt_of(const crypto::KeyPair& key,
                                           const protocol::Challenge& challenge,
                                           std::vector<protocol::ReceiptItem> items,
                                           Signing signing = Signing::real);

}  // namespace weft::coordinator::bench
