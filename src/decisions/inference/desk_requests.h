// What the desk is asked for.
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
  std::uint64_t conversation = 0;  // Equal for turns of one conversation: they are best answered
                                   // where the earlier ones were.
  std::uint64_t asker = 0;         // Equal for requests of one API key, or of one address without.
  protocol::serving::Ask ask;      // request, chain, epoch and answered are the desk's.
  // From now on, until when the answer is wanted; nothing: whenever it comes.
  std::optional<Duration> patience{};
  bool for_newcomers = true;  // They may answer it as well.
  bool shadow = false;        // For newcomers alone: its tokens reach no client.
};

// An answer that another worker is to read: prompt and tokens, nothing of what was claimed about
// them.
struct AuditRequest {
  RequestId id = 0;  // One of the numbers of requests, used once.
  std::string model;
  protocol::serving::Ask ask;     // With all of `answered`, and `redraw`.
  std::vector<PublicKey> except;  // Workers that answered it or have audited it.
  std::uint64_t draw = 0;         // Chooses among those who could.
};

}  // namespace weft::inference
