#include "decisions/jobs/verdict_text.h"

#include <array>
#include <numeric>

#include "common/base/format.h"

namespace weft::jobs {
namespace {

using store::Basis;

struct Words {
  std::string_view word;
  std::string_view one;   // Follows "The result".
  std::string_view many;  // Follows a number of results.
};
constexpr std::array<Words, store::bases> words{{
    {"unknown", "was accepted before the coordinator kept how",
     "were accepted before the coordinator kept how"},
    {"mathematics", "was checked by the coordinator's mathematics",
     "were checked by the coordinator's mathematics"},
    {"verifier", "was computed again in part by the coordinator's verifier, which agrees",
     "were computed again in part by the coordinator's verifier, which agrees"},
    {"root", "has the word of a worker that the operator invited as a verifier",
     "have the word of a worker that the operator invited as a verifier"},
    {"invited", "has the word of a worker that the operator invited",
     "have the word of a worker that the operator invited"},
    {"established", "has the word of established workers, which are checked at random",
     "have the word of established workers, which are checked at random"},
    {"agreement", "is what the job's workers agree on, and its client asked for no more",
     "are what the job's workers agree on, and its client asked for no more"},
    {"corrected", "was wrong, and the coordinator's verifier computed it again",
     "were wrong, and the coordinator's verifier computed them again"},
}};
// The order in which how_decided() names the bases: the strongest first, corrected results last.
constexpr std::array said{Basis::mathematics, Basis::root,      Basis::verifier, Basis::invited,
                          Basis::established, Basis::agreement, Basis::unknown,  Basis::corrected};

}  // namespace

std::string how_decided(const store::BasisCounts& counts) {
  const auto all = std::accumulate(counts.begin(), counts.end(), 0U);
  std::string text;
  for (const Basis basis : said) {
    const auto index = static_cast<std::size_t>(basis);
    const std::uint32_t count = counts.at(index);
    if (count == 0) continue;
    if (count == all && all == 1) return weft::format("The result {}.", words.at(index).one);
    if (count == all) return weft::format("All {} results {}.", all, words.at(index).many);
    text += text.empty() ? weft::format("Of {} results, ", all) : "; ";
    text += weft::format("{} {}", count, count == 1 ? words.at(index).one : words.at(index).many);
  }
  return text.empty() ? text : text + ".";
}

std::string how_decided(store::Basis basis) {
  return weft::format("The result {}.", words.at(static_cast<std::size_t>(basis)).one);
}

bool checked_by_mathematics(const manifest::Manifest& manifest) {
  const auto& kernel = manifest.kernel;
  return manifest.kind == manifest::Kind::kernel && kernel.name == "matmul_i8" &&
         std::holds_alternative<manifest::Blob>(kernel.a) &&
         std::holds_alternative<manifest::Blob>(kernel.b);
}

std::string_view to_string(store::Basis basis) {
  return words.at(static_cast<std::size_t>(basis)).word;
}

std::string_view to_string(store::Check::Kind kind) {
  switch (kind) {
    case store::Check::Kind::dispute:
      return "dispute";
    case store::Check::Kind::audit:
      return "audit";
    case store::Check::Kind::recheck:
      return "recheck";
    default:
      return "sample";
  }
}

std::string_view to_string(store::Check::Outcome outcome) {
  switch (outcome) {
    case store::Check::Outcome::differs:
      return "differs";
    case store::Check::Outcome::failed:
      return "failed";
    default:
      return "agrees";
  }
}

}  // namespace weft::jobs
