// Messages to frames and back. Text frame: one JSON object { "type", "v", ... }. Binary frame: u32
// header length (little-endian) || JSON header || payload, at most frame_bytes_max. Decoding is
// strict and bounded: unknown or missing or doubled keys, wrong types, over-long lists and trailing
// text are invalid_argument, with the place.
#pragma once

#include <string>
#include <string_view>

#include "common/base/bytes.h"
#include "common/base/result.h"
#include "common/protocol/messages.h"

namespace weft::protocol {

[[nodiscard]] std::string encode(const WorkerMessage& message);
[[nodiscard]] std::string encode(const CoordinatorMessage& message);
[[nodiscard]] Result<WorkerMessage> decode_worker_message(std::string_view text);
[[nodiscard]] Result<CoordinatorMessage> decode_coordinator_message(std::string_view text);

// Capabilities alone, as they stand in a hello.
[[nodiscard]] std::string encode(const Capabilities& capabilities);
[[nodiscard]] Result<Capabilities> decode_capabilities(std::string_view text);

// A result with the bytes of its in-frame outputs, in order.
struct ResultFrame {
  TaskResult result;
  ByteVector payload;
};
[[nodiscard]] Result<ByteVector> encode_frame(
    const ResultFrame& frame);  // resource_exhausted when too large.
// Checks that the payload is as long as the in-frame outputs say.
[[nodiscard]] Result<ResultFrame> decode_frame(ByteSpan bytes);

// What a worker signs to show that it holds its key: SHA-256("weft-hello-1" || coordinator || nonce
// || worker).
[[nodiscard]] ByteVector hello_digest(const PublicKey& coordinator, const Hash& nonce,
                                      const PublicKey& worker);
// What the coordinator signs to show that it holds its key: SHA-256("weft-challenge-1" ||
// coordinator
// || the worker's nonce || worker || nonce || host). `host` is what the worker's connection asked
// for, as canonical_host() writes it: a coordinator answers for its own names only, so that a relay
// under another name cannot pass the signature on as its own.
struct ChallengeProof {
  PublicKey coordinator;
  Hash worker_nonce;
  PublicKey worker;
  Hash nonce;
  std::string_view host;
};
[[nodiscard]] ByteVector challenge_digest(const ChallengeProof& proof);
// A Host header, or the host and port of a URL, in lower case and without the port that http and
// https have of themselves.
[[nodiscard]] std::string canonical_host(std::string_view host);

}  // namespace weft::protocol
