// The requests that clients and the core make to the desk.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/protocol/serving.h"
#include "decisions/inference/serving_ids.h"

namespace weft::inference {

struct AnswerRequest {
  RequestId id = 0;
  std::string model;
  // Identifies the conversation: its turns have equal values, and the chain that has its earlier
  // turns in the cache answers them best.
  std::uint64_t conversation = 0;
  std::uint64_t asker = 0;  // Equal for requests of one API key, or of one address without a key.
  protocol::serving::Ask ask;  // The desk sets request, chain, epoch and answered.
  // The time from now on within which the answer is wanted; no value: without limit.
  std::optional<Duration> patience{};
  bool for_newcomers = true;  // True if newcomers may answer it, too.
  bool shadow = false;        // True if newcomers alone answer it; its tokens reach no client.
};

// A request that another worker reads an answer again: the prompt and the tokens, without the
// fingerprints of the first workers.
struct AuditRequest {
  RequestId id = 0;  // From the numbers of requests; used once.
  std::string model;
  protocol::serving::Ask ask;     // The request, with all of `answered`, and `redraw`.
  std::vector<PublicKey> except;  // Workers that gave the answer or have audited it.
  std::uint64_t draw = 0;         // A random number that chooses among the possible auditors.
};

}  // namespace weft::inference
