// Answers of language models from the core's point of view: the clients that may ask, the amount
// that is set aside for an answer, its pay when it has ended, and the workers that are believed
// about it. The desk (decisions/inference/desk.h) finds the workers; the core holds the money and
// the reputations.
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

// The id of an answer, of the same type as a job's. Its escrow is escrow:ID.
using AnswerId = JobId;

struct AnswerChecks {
  // The share of audited answers is p(r) = floor + (1 - floor) * (1 - r)^2 for an established
  // wallet of reputation r, and 1 for any other wallet. An audit of an answer is one prefill, so
  // the floor is higher than that of tasks.
  double floor = 0.2;
  std::size_t open_max = 65536;  // The most answers that are under way or being audited.
};

// A request with an API key, before the desk is asked.
struct AnswerOrder {
  Hash key{};  // Hash of the key's secret.
  std::string model;
  std::vector<AnswerId> ids{};      // A new id for each answer of the request.
  std::uint64_t tokens_likely = 0;  // Tokens of one answer, the prompt included.
  std::uint64_t tokens_worst = 0;
  // True if the client named no bound: tokens_worst may then be lowered to fit the key's budget,
  // down to tokens_least.
  bool fits_budget = false;
  // The most tokens of the prompt: a worker that reports more is not believed.
  std::uint64_t tokens_least = 0;
  MicroCredits price = 0;  // Price of 1,000 tokens.
};
struct AnswerAdmission {
  std::optional<KeyRefusal> refused;
  RateStates rates;
  std::uint64_t tokens_worst = 0;  // The tokens of one answer that were set aside.
  std::vector<AnswerId> answers;
};

// A request with an API key that becomes a job of the key's owner. The job's possible cost is held
// back from the key's budget until the job has ended. The money itself is in the job's escrow.
struct JobRequest {
  Hash key{};  // Hash of the key's secret.
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
  bool must_audit = false;  // True if the client waits for an audit.
};
// The outcome of an answer. `unaudited`: no worker could have audited it.
enum class AnswerFate : std::uint8_t { nothing, believed, verified, refuted, unaudited };
// The outcome of the auditor's own reading. `unheard`: the auditor did not answer; `undecided`:
// there is no worker to ask.
enum class AnswerVerdict : std::uint8_t { agrees, differs, unheard, undecided };
struct AnswerAudited {
  AnswerId id;
  AnswerVerdict verdict = AnswerVerdict::undecided;
  std::vector<PublicKey> auditors{};
  std::string reason{};
  // The number of tokens that the request's settings do not give, if the verdict is `differs`; 0 if
  // the fingerprints differ.
  std::uint32_t doubtful = 0;
  // The ratios of the answer's fingerprints, in order, if the auditor weighed it
  // (common/proof/smaller_weights.h), and the SHA-256 of the model's file.
  std::vector<double> ratios{};
  Hash file{};
};
struct AnswerAuditOrder {
  AnswerId id;
  std::vector<PublicKey> except;
  std::uint64_t draw = 0;
};

// An order to search for the guilty stage of a chain whose answer was refuted, by root workers
// (decisions/inference/stage_trace.h).
struct AnswerTraceOrder {
  AnswerId id;
  // Workers that may not search: all but roots, and the chain's members.
  std::vector<PublicKey> except;
  std::uint64_t draw = 0;
};
struct AnswerTraced {
  AnswerId id;
  std::vector<inference::TraceFinding> findings{};
};
// The worker that two of the findings name; no value if there is none.
[[nodiscard]] std::optional<PublicKey> found_by_two(
    std::span<const inference::TraceFinding> findings);

// The maker of an API key: the operator, whose wallet is the coordinator's own, may make one for
// any client.
enum class KeyMaker : std::uint8_t { client, the_operator };

struct AnswerCounters {
  std::uint64_t paid = 0;      // The number of paid answers.
  std::uint64_t refunded = 0;  // The number of answers for which no worker is paid.
  std::uint64_t audits = 0;    // The number of audits.
  std::uint64_t mismatches = 0;
  std::uint64_t unaudited = 0;  // Answers drawn for an audit that no worker could do.
};

// What roots that weighed an answer have found so far (decisions/jobs/answer_weighing.h).
struct WeighedAnswer {
  Hash file{};  // SHA-256 of the model's file.
  // The sum of each of the answer's workers before the answer; empty: no root has weighed it.
  std::vector<double> before{};
  std::vector<double> agreed{};  // The sums after the latest reading that did not find them.
  bool differs = false;          // True if a reading has found smaller weights.
};

// An answer that is under way or being audited.
struct OpenAnswer {
  std::string key;  // The id of the answer's API key; empty if the answer is free.
  PublicKey client;
  MicroCredits price = 0;
  MicroCredits held = 0;
  KeyUse use{};
  bool counts = false;  // True for the first answer of a request.
  std::uint64_t prompt_max =
      std::numeric_limits<std::uint64_t>::max();  // Most tokens that the prompt may have.
  // The fields from here on are set when the answer has ended and is being audited.
  std::vector<PublicKey> workers{};
  std::vector<inference::WorkShare> work{};
  std::uint64_t tokens = 0;
  MicroCredits due = 0;
  MicroCredits stake = 0;  // The amount that each worker may lose.
  // Auditors; a chain is named by its first worker.
  std::vector<PublicKey> agreeing{}, differing{};
  std::vector<PublicKey> asked{};  // All auditors that were asked.
  std::uint32_t unheard = 0;       // Audits that gave no result.
  // The findings of roots that differ from the answer: wrong fingerprints, or the least number of
  // tokens that the settings do not give.
  bool prints_differ = false;
  std::optional<std::uint32_t> doubtful{};
  std::optional<std::int64_t>
      lead{};  // The audits' lead, while the chain's guilty stage is searched for.
  // The worker of the guilty stage, once two roots have found it.
  std::optional<PublicKey> guilty{};
  WeighedAnswer weighed{};
  bool audited = false;        // True if the stakes of the answer's workers are at risk.
  bool without_roots = false;  // True if every present root was asked already.
};
// The comparison of an auditor's fingerprints with the claimed ones (common/proof/fingerprint.h).
// The auditor and the worker do not see each other's fingerprints. The parameter `complete` says
// that the answer was not broken off, so that the last position counts.
struct PrintsVerdict {
  bool complete = true;  // True if the claim has all fingerprints that it must have.
  bool readable = true;  // True if the audit has all fingerprints that it must have.
  bool agrees = true;
  double error = 0, missing = 0;  // Largest values of all positions.
  std::string reason;
};
[[nodiscard]] PrintsVerdict compare_prints(const inference::Prints& claimed,
                                           const inference::Prints& own, std::uint32_t tokens,
                                           bool complete, std::uint32_t embedding,
                                           const proof::FingerprintTolerance& tolerance = {});
// True if the claim has all fingerprints that it must have, as far as this shows without an audit.
[[nodiscard]] bool prints_complete(const inference::Prints& claimed, std::uint32_t tokens,
                                   bool complete);

// The tolerance between the two sides' fingerprints: the smallest if both computed exactly
// (AnswerEnd), the largest if activations are rounded to int8.
[[nodiscard]] proof::FingerprintTolerance audit_tolerance(bool rounded, bool both_exact);

// The outcome of an audit of an answer: first from its fingerprints, then from the tokens that were
// drawn again. An auditor that drew fewer tokens again than it was to counts as unheard.
struct AuditReading {
  AnswerVerdict verdict = AnswerVerdict::unheard;
  std::uint32_t doubtful = 0;
  double error = 0, missing = 0;
  std::string reason{};
  std::vector<double> ratios{};  // See AnswerAudited::ratios.
};
// The scope of an audit: fingerprints of `tokens` tokens, including the last one if the answer is
// complete, and `drawn` tokens drawn again. A vector has one fingerprint and no tokens.
struct AuditScope {
  std::uint32_t tokens = 0;
  std::uint32_t drawn = 0;
  bool complete = false;
};
// The ratios of the claimed fingerprints, in order, if the auditor read the answer with rounded
// weights too. A fingerprint that one of the three lacks, or that is not one, has no ratio.
[[nodiscard]] std::vector<double> weigh_prints(const inference::Prints& claimed,
                                               const inference::AuditEnd& audit,
                                               const AuditScope& scope, std::uint32_t embedding);
[[nodiscard]] AuditReading read_audit(const inference::Prints& claimed,
                                      const inference::AuditEnd& audit, const AuditScope& scope,
                                      std::uint32_t embedding,
                                      const proof::FingerprintTolerance& tolerance = {});

}  // namespace weft::billing
