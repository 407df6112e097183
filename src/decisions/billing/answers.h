// Answers of language models as the core sees them: who may ask, what is set aside for an answer,
// what it is paid when it has ended, and who is believed about it. The desk (serving/desk.h) finds
// the workers; the core holds the money and the reputations.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/proof/fingerprint.h"
#include "decisions/billing/api_keys.h"
#include "decisions/inference/answer.h"

namespace weft::billing {

// Names an answer as JobId names a job; its escrow is escrow:ID.
using AnswerId = JobId;

struct AnswerChecks {
  // p(r) = floor + (1 - floor) * (1 - r)^2 of an established wallet's answers are audited, all of
  // any other's. An audit of an answer is one prefill, so that the floor is higher than that of
  // tasks.
  double floor = 0.2;
  std::size_t open_max = 65536;  // Answers under way or being audited.
};

// A request with an API key, before it is asked.
struct AnswerOrder {
  Hash key{};  // Hash of the secret.
  std::string model;
  std::vector<AnswerId> ids{};      // New ones, one for each of its answers.
  std::uint64_t tokens_likely = 0;  // Tokens of one answer, the prompt included.
  std::uint64_t tokens_worst = 0;
  // Where the client named no bound: tokens_worst may be lowered to what the key's budget takes,
  // down to tokens_least.
  bool fits_budget = false;
  std::uint64_t tokens_least = 0;  // What the prompt has at most: no worker is believed more.
  MicroCredits price = 0;          // Price of 1,000 tokens.
};
struct AnswerAdmission {
  std::optional<KeyRefusal> refused;
  RateStates rates;
  std::uint64_t tokens_worst = 0;  // Tokens of one answer, as they were set aside.
  std::vector<AnswerId> answers;
};

// A request with an API key that becomes a job of the key's owner: what the job may cost is held
// back of the key's budget until it has ended. The money itself is the job's escrow.
struct JobRequest {
  Hash key{};  // Hash of the secret.
  MicroCredits budget = 0;
};
struct JobAdmission {
  std::optional<KeyRefusal> refused;
  RateStates rates;
  std::string key_id;
  PublicKey client;
};

// An answer that has ended, of a request with or without a key.
struct AnswerReport {
  AnswerId id;
  inference::AnswerEnd end;
  bool must_audit = false;  // Its client waits for that.
};
// What became of an answer. `unaudited`: no worker was there that could have.
enum class AnswerFate : std::uint8_t { nothing, believed, verified, refuted, unaudited };
// What the auditor's own reading came to.
// `unheard`: the auditor did not answer; `undecided`: there is no worker to ask.
enum class AnswerVerdict : std::uint8_t { agrees, differs, unheard, undecided };
struct AnswerAudited {
  AnswerId id;
  AnswerVerdict verdict = AnswerVerdict::undecided;
  std::vector<PublicKey> auditors{};
  std::string reason{};
  // Where it differs: tokens that its settings do not give; 0: its fingerprints differ.
  std::uint32_t doubtful = 0;
};
struct AnswerAuditOrder {
  AnswerId id;
  std::vector<PublicKey> except;
  std::uint64_t draw = 0;
};

// A refuted answer of a chain: roots are to search for the stage to blame
// (decisions/inference/stage_trace.h).
struct AnswerTraceOrder {
  AnswerId id;
  std::vector<PublicKey> except;  // All but roots, and its members.
  std::uint64_t draw = 0;
};
struct AnswerTraced {
  AnswerId id;
  std::vector<inference::TraceFinding> findings{};
};
// The worker that two of them found, or nothing.
[[nodiscard]] std::optional<PublicKey> found_by_two(
    std::span<const inference::TraceFinding> findings);

// The maker of an API key: the operator, whose wallet is the coordinator's own, may make one for
// any client.
enum class KeyMaker : std::uint8_t { client, the_operator };

struct AnswerCounters {
  std::uint64_t paid = 0;      // Answers,
  std::uint64_t refunded = 0;  // answers that no worker is paid for,
  std::uint64_t audits = 0;    // and audits of either.
  std::uint64_t mismatches = 0;
  std::uint64_t unaudited = 0;  // Drawn for an audit that no worker could do.
};

// An answer that is under way or being audited.
struct OpenAnswer {
  std::string key;  // Id of its API key; empty: the answer is free.
  PublicKey client;
  MicroCredits price = 0;
  MicroCredits held = 0;
  KeyUse use{};
  bool counts = false;  // The first answer of a request.
  std::uint64_t prompt_max =
      std::numeric_limits<std::uint64_t>::max();  // Tokens that its prompt can have.
  // When it has ended and is being audited.
  std::vector<PublicKey> workers{};
  std::vector<inference::WorkShare> work{};
  std::uint64_t tokens = 0;
  MicroCredits due = 0;
  MicroCredits stake = 0;                          // That each worker may lose.
  std::vector<PublicKey> agreeing{}, differing{};  // Auditors, a chain of them as its first.
  std::vector<PublicKey> asked{};                  // All of them.
  std::uint32_t unheard = 0;                       // How often nothing came of it.
  // What the roots found that say it differs: wrong fingerprints, or so few tokens that are not
  // what its settings give.
  bool prints_differ = false;
  std::optional<std::uint32_t> doubtful{};
  std::optional<std::int64_t>
      lead{};  // The audits' lead, while its chain's guilty stage is searched.
  std::optional<PublicKey> guilty{};  // That stage's worker, once two roots have found it.
  bool audited = false;               // Its workers' stakes are at risk.
  bool without_roots = false;         // None is there that was not asked.
};
// Whether the auditor's fingerprints are those that were claimed (common/proof/fingerprint.h). Both
// sides hand in theirs and see nothing of the other's. `complete`: the answer was not broken off,
// so that the last position counts.
struct PrintsVerdict {
  bool complete = true;  // The claim has all that it must have.
  bool readable = true;  // The audit as well.
  bool agrees = true;
  double error = 0, missing = 0;  // The largest.
  std::string reason;
};
[[nodiscard]] PrintsVerdict compare_prints(const inference::Prints& claimed,
                                           const inference::Prints& own, std::uint32_t tokens,
                                           bool complete, std::uint32_t embedding,
                                           const proof::FingerprintTolerance& tolerance = {});
// As far as it can be told without an audit.
[[nodiscard]] bool prints_complete(const inference::Prints& claimed, std::uint32_t tokens,
                                   bool complete);

// How far the two sides' fingerprints may be apart: least where both computed exactly (AnswerEnd),
// most where activations are rounded to int8.
[[nodiscard]] proof::FingerprintTolerance audit_tolerance(bool rounded, bool both_exact);

// What an audit says of an answer: its fingerprints first, then the tokens that were drawn again.
// An auditor that drew none again, or fewer than there are, has said nothing.
struct AuditReading {
  AnswerVerdict verdict = AnswerVerdict::unheard;
  std::uint32_t doubtful = 0;
  double error = 0, missing = 0;
  std::string reason{};
};
// What an audit looked for: fingerprints of so many tokens, the last one's with them if the answer
// is complete, and so many tokens drawn again. A vector has one fingerprint and no tokens.
struct AuditScope {
  std::uint32_t tokens = 0;
  std::uint32_t drawn = 0;
  bool complete = false;
};
[[nodiscard]] AuditReading read_audit(const inference::Prints& claimed,
                                      const inference::AuditEnd& audit, const AuditScope& scope,
                                      std::uint32_t embedding,
                                      const proof::FingerprintTolerance& tolerance = {});

}  // namespace weft::billing
