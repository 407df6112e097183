// A check that the coordinator's verifier was given and did not finish, because the check took
// longer than the time limit of a run, or because too many other checks waited before it. This says
// nothing about the result, and little about the verifier, whose machine may have been busy for a
// moment. The check is asked for again after a pause that doubles each time, for as long as it is
// wanted. A verifier that cannot do the check at all (`cannot()`) is not asked again.
//
// Pure: the time is passed in. Not safe to share between threads.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "common/base/clock.h"
#include "common/base/format.h"

namespace weft::trust {

class LateCheck {
 public:
  static constexpr std::chrono::seconds pause_min{10};
  static constexpr std::chrono::seconds pause_max{600};
  // The number of tries after which, about a minute after the first, the client and the operator
  // are told that the check is late (`sentence()`), and a check that is not required is given up.
  static constexpr std::uint32_t tries_max = 4;

  // Call it when the verifier did not finish the check. `why` is a sentence.
  void ran_out(std::string why, Instant now) {
    why_ = std::move(why);
    cannot_ = false;
    waits_ = true;
    next_ = now + std::min(pause_min * (1U << std::min(tries_, 16U)), pause_max);
    ++tries_;
  }
  // Call it if this verifier cannot do the check, now or later.
  void cannot(std::string why) {
    why_ = std::move(why);
    cannot_ = true;
    waits_ = false;
  }
  // True if the check is to be asked for now; once after each ran_out().
  [[nodiscard]] bool take_due(Instant now) {
    if (!waits_ || now < next_) return false;
    waits_ = false;
    return true;
  }
  // True if the check will be asked for again, at the time next().
  [[nodiscard]] bool waits() const { return waits_; }
  [[nodiscard]] Instant next() const { return next_; }
  [[nodiscard]] std::uint32_t tries() const { return tries_; }
  // True if the try that begins now may fail without being reported: it is not the last one before
  // the client and the operator are told.
  [[nodiscard]] bool has_patience() const { return tries_ + 1 < tries_max; }
  // True if the client and the operator are told that the check waits.
  [[nodiscard]] bool is_told() const { return cannot_ || tries_ >= tries_max; }

  // A sentence for the client and the operator that says why `what` (a noun) waits, and what ends
  // the wait.
  [[nodiscard]] std::string sentence(std::string_view what, Instant now) const {
    constexpr std::string_view help =
        "a worker of the operator's does it instead (`weft invite`, then `weft work --invite CODE` "
        "on another machine)";
    std::string_view why = why_;
    if (why.ends_with('.')) why.remove_suffix(1);
    if (cannot_)
      return weft::format("The coordinator's verifier cannot do {} ({}), which waits until {}.",
                          what, why, help);
    if (!waits_)
      return weft::format(
          "The coordinator's verifier has not finished {} after {} tries ({}) and tries again now; "
          "if it never succeeds, {}.",
          what, tries_, why, help);
    const auto pause = std::chrono::ceil<std::chrono::seconds>(std::max(next_ - now, Duration{}));
    return weft::format(
        "The coordinator's verifier has not finished {} after {} tries ({}) and tries again in {} "
        "s; if it never succeeds, {}.",
        what, tries_, why, pause.count(), help);
  }

 private:
  std::string why_;
  std::uint32_t tries_ = 0;
  Instant next_{};
  bool waits_ = false;
  bool cannot_ = false;
};

}  // namespace weft::trust
