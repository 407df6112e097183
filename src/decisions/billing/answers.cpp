#include "decisions/billing/answers.h"

#include <algorithm>

#include "common/base/format.h"
#include "common/proof/fingerprint.h"
#include "common/proof/smaller_weights.h"

namespace weft::billing {

namespace {

std::vector<std::uint32_t> positions(std::uint32_t tokens, bool complete) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t at = 0; at < tokens; at += proof::fingerprint_interval) out.push_back(at);
  if (complete && tokens > 0) out.push_back(tokens);
  return out;
}

}  // namespace

std::optional<PublicKey> found_by_two(std::span<const inference::TraceFinding> findings) {
  for (const inference::TraceFinding& one : findings) {
    const bool again = std::ranges::any_of(findings, [&](const inference::TraceFinding& other) {
      return other.guilty == one.guilty && other.auditor != one.auditor;
    });
    if (again) return one.guilty;
  }
  return std::nullopt;
}

bool prints_complete(const inference::Prints& claimed, std::uint32_t tokens, bool complete) {
  return tokens > 0 && std::ranges::all_of(positions(tokens, complete),
                                           [&](std::uint32_t at) { return claimed.contains(at); });
}

PrintsVerdict compare_prints(const inference::Prints& claimed, const inference::Prints& own,
                             std::uint32_t tokens, bool complete, std::uint32_t embedding,
                             const proof::FingerprintTolerance& tolerance) {
  PrintsVerdict out;
  for (const std::uint32_t at : positions(tokens, complete)) {
    const auto theirs = claimed.find(at);
    const auto ours = own.find(at);
    if (theirs == claimed.end()) {
      out.complete = out.agrees = false;
      out.reason = weft::format("The worker gave no fingerprint after token {}.", at);
      return out;
    }
    const auto hidden = proof::fingerprint_values(
        ours == own.end() ? ByteSpan() : ByteSpan(ours->second), embedding);
    if (!hidden) {
      out.readable = out.agrees = false;
      out.reason = weft::format("The audit gave no valid hidden state after token {}: {}", at,
                                hidden.error().message);
      return out;
    }
    const auto distance = proof::fingerprint_distance(theirs->second, *hidden);
    if (!distance) {
      out.agrees = false;
      out.reason = weft::format("The fingerprints after token {} cannot be compared: {}", at,
                                distance.error().message);
      return out;
    }
    out.error = std::max(out.error, distance->error);
    out.missing = std::max(out.missing, distance->missing);
    if (out.agrees &&
        (distance->error > tolerance.error_max || distance->missing > tolerance.missing_max)) {
      out.agrees = false;
      out.reason = weft::format(
          "After token {} the largest entries differ by {:.2g}, and {:.0f} % of them are missing "
          "(at most {:.2g} and {:.0f} % are allowed).",
          at, distance->error, distance->missing * 100, tolerance.error_max,
          tolerance.missing_max * 100);
    }
  }
  return out;
}

proof::FingerprintTolerance audit_tolerance(bool rounded, bool both_exact) {
  if (rounded) return proof::rounded_tolerance;
  return both_exact ? proof::f32_tolerance : proof::FingerprintTolerance{};
}

std::vector<double> weigh_prints(const inference::Prints& claimed, const inference::AuditEnd& audit,
                                 const AuditScope& scope, std::uint32_t embedding) {
  std::vector<double> out;
  for (const std::uint32_t at : positions(scope.tokens, scope.complete)) {
    const auto theirs = claimed.find(at), own = audit.prints.find(at),
               other = audit.beside.find(at);
    if (theirs == claimed.end() || own == audit.prints.end() || other == audit.beside.end())
      continue;
    const auto ratio = proof::smaller_weights_ratio(ByteSpan(theirs->second), ByteSpan(own->second),
                                                    ByteSpan(other->second), embedding);
    if (ratio) out.push_back(*ratio);
  }
  return out;
}

AuditReading read_audit(const inference::Prints& claimed, const inference::AuditEnd& audit,
                        const AuditScope& scope, std::uint32_t embedding,
                        const proof::FingerprintTolerance& tolerance) {
  const PrintsVerdict prints =
      compare_prints(claimed, audit.prints, scope.tokens, scope.complete, embedding, tolerance);
  AuditReading out{.error = prints.error, .missing = prints.missing, .reason = prints.reason};
  if (!prints.readable) return out;
  if (!prints.agrees) {
    out.verdict = AnswerVerdict::differs;
  } else if (audit.redrawn != scope.drawn) {
    out.reason = weft::format("The audit drew {} tokens again; it should draw {}.", audit.redrawn,
                              scope.drawn);
  } else if (!audit.doubtful.empty()) {
    out.verdict = AnswerVerdict::differs;
    out.doubtful = static_cast<std::uint32_t>(audit.doubtful.size());
    out.reason = weft::format(
        "Token {} is not the one that the answer's seed and settings give ({} such tokens).",
        audit.doubtful.front(), out.doubtful);
  } else {
    out.verdict = AnswerVerdict::agrees;
  }
  out.ratios = weigh_prints(claimed, audit, scope, embedding);
  return out;
}

}  // namespace weft::billing
