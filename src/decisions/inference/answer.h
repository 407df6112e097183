// An answer of a language model that has ended: the tokens, the workers that made it, and the data
// for its pay and its checks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/protocol/serving.h"

namespace weft::inference {

// The work that one worker did for an answer. It includes work in chains that were lost before the
// answer ended.
struct WorkShare {
  PublicKey worker;
  std::uint64_t work = 0;  // The work, in tokens times layers.
  friend bool operator==(const WorkShare&, const WorkShare&) = default;
};
// Fingerprints, each by the number of the answer's tokens that precede it.
using Prints = std::map<std::uint32_t, ByteVector>;
// Adds the fingerprints that a worker sends with an answer of `answered` tokens so far. Keeps at
// most 16 fingerprints and one more for every 16 tokens, which is twice the number that an answer
// has.
void keep_prints(Prints& prints, const std::vector<protocol::serving::Print>& told,
                 std::size_t answered);

// The chain that made an answer, if its members committed to their frames.
struct Pipeline {
  struct Stage {
    PublicKey worker;
    std::uint32_t begin = 0, end = 0;  // The layers from begin up to but not including end.
  };
  std::uint32_t chain = 0;
  std::uint32_t epoch = 0;
  std::uint32_t sequence = 0;  // The number by which frames name the answer.
  bool exact = false;          // See protocol::serving::Link::exact.
  std::vector<Stage> stages{};
};

struct AnswerEnd {
  std::string reason;  // "eos", "stop", "length", "cancelled" or "failed".
  Error error{};       // Set if the answer failed.
  std::uint32_t prompt_tokens = 0;
  // Tokens of the prompt that were already in the cache from an earlier request.
  std::uint32_t cached_tokens = 0;
  std::uint32_t answer_tokens = 0;
  std::uint32_t shards = 0;   // The number of members of the chain that began the answer.
  std::uint32_t resumed = 0;  // The number of times that the answer continued after a loss.
  // Keys of the members of the chain that ended the answer, in the chain's order.
  std::vector<std::string> workers{};
  std::string transport{};  // The way of their hops: "self", "relay", "webrtc" or "tcp".
  // The trust in the answer: "anyone" if newcomers may have answered; "pending" if trusted workers
  // answered and an audit may follow; "verified" if an audit has confirmed it; "refuted" if an
  // audit has refuted it.
  std::string trust{};
  std::uint64_t seed = 0;  // The seed that the tokens were drawn with.
  // The data for the pay and the checks of the answer.
  std::vector<WorkShare> work{};
  std::vector<std::int32_t> answered{};
  Prints prints{};
  std::vector<float> vector{};  // The vector of a model that draws no tokens.
  // True if processors computed the answer in f32, so that its fingerprints have a smaller
  // tolerance.
  bool exact = false;
  std::optional<Pipeline> pipeline{};  // Set if one chain gave all tokens of the answer.

  // The number of tokens whose fingerprints are checked. A vector has one fingerprint, before any
  // token.
  [[nodiscard]] std::uint32_t checked_tokens() const {
    return vector.empty() ? static_cast<std::uint32_t>(answered.size()) : 1;
  }
  // True if the last token has a fingerprint as well.
  [[nodiscard]] bool checked_to_its_end() const { return vector.empty() && reason != "cancelled"; }
};

// The result of another worker's reading of an answer.
struct AuditEnd {
  // Set if no worker could read the answer, or if the reading failed.
  std::optional<Error> error{};
  std::vector<PublicKey> auditors{};
  Prints prints{};
  Prints beside{};            // Fingerprints with rounded weights, if the auditor weighs answers.
  std::uint32_t redrawn = 0;  // Tokens that were drawn again.
  std::vector<std::uint32_t> doubtful{};  // Tokens that the answer's settings do not give.
  bool exact = false;                     // See AnswerEnd::exact.
};

// The worker that one auditor found guilty in the search for the guilty stage (stage_trace.h).
struct TraceFinding {
  PublicKey auditor;
  PublicKey guilty;
  std::string why;
  friend bool operator==(const TraceFinding&, const TraceFinding&) = default;
};
struct TraceEnd {
  std::vector<TraceFinding> findings{};  // One finding at most of each auditor.
  double farthest = 0;                   // The greatest error of the stages that were found right.
  std::uint32_t stages = 0;              // The number of stages that all auditors computed again.
};

}  // namespace weft::inference
