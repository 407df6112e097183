// An answer of a language model that has ended: what was said, by which workers, and what it is
// paid and checked by.
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

// What workers read and drew of it, those of chains that were lost in the middle included.
struct WorkShare {
  PublicKey worker;
  std::uint64_t work = 0;  // Tokens times layers.
  friend bool operator==(const WorkShare&, const WorkShare&) = default;
};
// Fingerprints by the number of the answer's tokens before them.
using Prints = std::map<std::uint32_t, ByteVector>;
// Adds those that a worker sends of an answer of `answered` tokens so far: at most one for every 16
// tokens and 16 more, twice of what an answer has.
void keep_prints(Prints& prints, const std::vector<protocol::serving::Print>& told,
                 std::size_t answered);

// The chain that an answer came from, where its members committed to their frames.
struct Pipeline {
  struct Stage {
    PublicKey worker;
    std::uint32_t begin = 0, end = 0;  // Layers.
  };
  std::uint32_t chain = 0;
  std::uint32_t epoch = 0;
  std::uint32_t sequence = 0;  // By which frames name the answer.
  bool exact = false;          // As protocol::serving::Link.
  std::vector<Stage> stages{};
};

struct AnswerEnd {
  std::string reason;  // "eos", "stop", "length", "cancelled", "failed"; "told" of a look.
  Error error{};       // Where failed.
  std::uint32_t prompt_tokens = 0;
  std::uint32_t cached_tokens = 0;  // Prompt tokens that were read for an earlier request.
  std::uint32_t answer_tokens = 0;
  std::uint32_t shards = 0;            // Members of the chain that began it.
  std::uint32_t resumed = 0;           // Times that it went on behind a loss.
  std::vector<std::string> workers{};  // Keys, in the chain's order, of the chain that ended it.
  std::string transport{};             // "self", "relay", "webrtc", "tcp": how their hops went.
  // "anyone": newcomers may have answered; "pending": trusted workers did, and an audit may follow;
  // "verified": after one; "refuted" by one.
  std::string trust{};
  std::uint64_t seed = 0;  // That its tokens were drawn with.
  // What it is paid and checked by.
  std::vector<WorkShare> work{};
  std::vector<std::int32_t> answered{};
  Prints prints{};
  std::vector<float> vector{};  // Empty for a model that draws tokens.
  bool exact = false;  // Computed by processors, in f32: fingerprints of such differ by less.
  std::optional<Pipeline> pipeline{};  // Where one chain gave all of its tokens.

  // What fingerprints are looked for: those of so many tokens. A vector has one, before any token.
  [[nodiscard]] std::uint32_t checked_tokens() const {
    return vector.empty() ? static_cast<std::uint32_t>(answered.size()) : 1;
  }
  // The last token has one as well.
  [[nodiscard]] bool checked_to_its_end() const { return vector.empty() && reason != "cancelled"; }
};

// What another worker's reading of an answer came to.
struct AuditEnd {
  std::optional<Error> error{};  // Set if no worker could read it, or did.
  std::vector<PublicKey> auditors{};
  Prints prints{};
  std::uint32_t redrawn = 0;              // Tokens that were drawn again.
  std::vector<std::uint32_t> doubtful{};  // Those that the settings do not give.
  bool exact = false;                     // As AnswerEnd.
};

// Whom the search for the guilty stage of an answer found (stage_trace.h).
struct TraceFinding {
  PublicKey auditor;
  PublicKey guilty;
  std::string why;
  friend bool operator==(const TraceFinding&, const TraceFinding&) = default;
};
struct TraceEnd {
  std::vector<TraceFinding> findings{};  // At most one of each auditor.
  double farthest = 0;                   // Error of the stages that were found right.
  std::uint32_t stages = 0;              // That were computed again, by all auditors.
};

}  // namespace weft::inference
