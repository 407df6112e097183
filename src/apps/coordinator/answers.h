// Answers of language models as the core sees them: who may ask, what is set aside for an answer, what it is paid when it has ended,
// and who is believed about it. The desk (serving/desk.h) finds the workers; the core holds the money and the reputations.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/coordinator/serving/api_keys.h"
#include "apps/coordinator/serving/desk.h"
#include "common/base/ids.h"

namespace weft::coordinator {

// Names an answer as JobId names a job; its escrow is escrow:ID.
using AnswerId = JobId;

struct AnswerChecks {
  // p(r) = floor + (1 - floor) * (1 - r)^2 of an established wallet's answers are audited, all of any other's. An audit of an answer is
  // one prefill, so that the floor is higher than that of tasks.
  double floor = 0.02;
  std::size_t open_max = 65536;  // Answers under way or being audited.
};

// A request with an API key, before it is asked.
struct AnswerOrder {
  Hash key{};  // Of the secret.
  std::string model;
  std::uint32_t answers = 1;
  std::uint64_t tokens_likely = 0;  // Of one answer, the prompt included.
  std::uint64_t tokens_worst = 0;
  // Where the client named no bound: tokens_worst may be lowered to what the key's budget takes, down to tokens_least.
  bool fits_budget = false;
  std::uint64_t tokens_least = 0;  // What the prompt has at most: no worker is believed more.
  MicroCredits price = 0;  // Of 1,000 tokens.
};
struct AnswerAdmission {
  std::optional<KeyRefusal> refused;
  RateStates rates;
  std::uint64_t tokens_worst = 0;  // Of one answer, as it was set aside.
  std::vector<AnswerId> answers;
};

// An answer that has ended, of a request with or without a key.
struct AnswerReport {
  AnswerId id;
  AnswerEnd end;
};
// What the auditor's own reading came to.
// `unheard`: who was asked did not say; `nobody`: there is nobody to ask.
enum class AnswerVerdict : std::uint8_t { agrees, differs, unheard, nobody };
struct AnswerAudited {
  AnswerId id;
  AnswerVerdict verdict = AnswerVerdict::nobody;
  std::vector<PublicKey> auditors{};
  std::string reason{};
};
struct AnswerAuditOrder {
  AnswerId id;
  std::vector<PublicKey> except;
  std::uint64_t draw = 0;
};

// Who makes an API key: the operator, whose wallet is the coordinator's own, may for anybody.
enum class KeyMaker : std::uint8_t { client, the_operator };

struct AnswerCounters {
  std::uint64_t paid = 0;      // Answers,
  std::uint64_t refunded = 0;  // those that nobody is paid for,
  std::uint64_t audits = 0;    // and audits of either.
  std::uint64_t mismatches = 0;
  std::uint64_t unaudited = 0;  // Drawn, and nobody could.
};

// The core's, private to it.
struct OpenAnswer {
  std::string key;  // Id of its API key; empty: nobody pays.
  PublicKey client;
  MicroCredits price = 0;
  MicroCredits held = 0;
  KeyUse use{};
  bool counts = false;                                                   // The first answer of a request.
  std::uint64_t prompt_max = std::numeric_limits<std::uint64_t>::max();  // Tokens that its prompt can have.
  // When it has ended and is being audited.
  std::vector<PublicKey> workers{};
  std::vector<WorkShare> work{};
  std::uint64_t tokens = 0;
  MicroCredits due = 0;
  MicroCredits stake = 0;                          // That each worker may lose.
  std::vector<PublicKey> agreeing{}, differing{};  // Auditors, a chain of them as its first.
  std::vector<PublicKey> asked{};                  // All of them.
  std::uint32_t unheard = 0;                       // How often nothing came of it.
  bool audited = false;                            // Its workers' stakes are at risk.
};
struct Answers {
  KeyRing keys;
  std::map<AnswerId, OpenAnswer> open;
  std::map<PublicKey, MicroCredits> at_risk;  // Stakes while answers are audited.
  AnswerCounters counters;
};

// Whether the auditor's fingerprints are those that were claimed (common/proof/fingerprint.h). Both sides hand in theirs and see
// nothing of the other's. `complete`: the answer was not broken off, so that the last position counts.
struct PrintsVerdict {
  bool complete = true;  // The claim has all that it must have.
  bool readable = true;  // The audit as well.
  bool agrees = true;
  double error = 0, missing = 0;  // The largest.
  std::string reason;
};
[[nodiscard]] PrintsVerdict compare_prints(const Prints& claimed, const Prints& own, std::uint32_t tokens, bool complete, std::uint32_t embedding);
// As far as it can be told without an audit.
[[nodiscard]] bool prints_complete(const Prints& claimed, std::uint32_t tokens, bool complete);

}  // namespace weft::coordinator
