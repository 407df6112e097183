// The level of trust of each worker (levels.h), and how closely its results are checked. Standing
// holds what is known of wallets beyond any one job.
//
// Pure: the time is passed in. Not safe to share between threads. Memory: a few numbers for each
// wallet that ever handed in a result.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "decisions/trust/evidence.h"
#include "decisions/trust/levels.h"
#include "decisions/trust/referee_settings.h"
#include "decisions/trust/reputation.h"

namespace weft::trust {

class Standing {
 public:
  // `settings` must outlive the object.
  explicit Standing(const RefereeSettings& settings)
      : settings_(settings), book_(settings.reputation) {}

  // `at_hand` returns true if the coordinator has a root of its own at hand: its verifier. Without
  // `at_hand` there is no such root.
  void set_root_at_hand(std::function<bool()> at_hand) { root_at_hand_ = std::move(at_hand); }
  [[nodiscard]] bool root_at_hand() const { return root_at_hand_ && root_at_hand_(); }
  // True if workers of all levels count alike (Defences::newcomers_decide_nothing is off).
  [[nodiscard]] bool trusts_heads() const { return !settings_.defences.newcomers_decide_nothing; }

  [[nodiscard]] Level level(const PublicKey& worker, UnixMillis now) const;
  // True for a root or a worker that the operator invited: its word is believed alone.
  [[nodiscard]] bool is_operators(const PublicKey& worker, UnixMillis now) const;
  // True if the agreement of these workers decides: one of them is the operator's, or two are
  // established and have different owners.
  [[nodiscard]] bool decides(std::span<const PublicKey> workers, UnixMillis now) const;
  // True if decides() is and no check by a root is due: two established workers do not settle a
  // task if a root is at hand to check them.
  [[nodiscard]] bool settles(std::span<const PublicKey> workers, UnixMillis now) const;
  // True if one of these workers is the operator's, has an owner other than the suspect's, and has
  // a device of the suspect's vendor.
  [[nodiscard]] bool operator_has_device_of(const PublicKey& suspect,
                                            std::span<const PublicKey> workers,
                                            UnixMillis now) const;

  // Returns the number of leases with undecided results that a worker may hold.
  [[nodiscard]] std::uint32_t leases_max(const PublicKey& worker, UnixMillis now) const;
  // Returns the share of the worker's next result that a root computes again, if the result can be
  // cut into parts so small.
  [[nodiscard]] double sample_share(const PublicKey& worker, UnixMillis now) const;
  // True if a root found a result of the worker wrong recently: its next results are checked whole,
  // and its pay is held.
  [[nodiscard]] bool watched(const PublicKey& worker) const {
    return !trusts_heads() && whole_checks_.contains(worker);
  }
  // True if a root ever found a result or a step of the worker wrong. Steps of such a worker are
  // not checked apart: its results are checked whole or in parts, so that wrong steps of right
  // results cost the verifier one watch, and not one after the other.
  [[nodiscard]] bool has_mistakes(const PublicKey& worker) const {
    return mistakes_.contains(worker);
  }
  // True if the worker is watched, so that its next result is checked whole. Uses up one of the
  // checks.
  [[nodiscard]] bool take_whole_check(const PublicKey& worker);

  // A root has confirmed a result of the worker.
  void sample_passed(const PublicKey& worker);
  // A result of the worker was refused or found wrong.
  void sample_failed(const PublicKey& worker);
  // A root found a result of the worker wrong. The worker's next results are then checked whole,
  // and their number doubles with each further wrong result. No worker is convicted by this alone,
  // because the fault may be its device's.
  void watch(const PublicKey& worker);
  // The state of a worker that is stored and restored.
  struct Watch {
    PublicKey worker;
    std::uint32_t checks = 0;    // Next results that are checked whole.
    std::uint32_t mistakes = 0;  // Wrong results that a root found.
    std::uint32_t passes = 0;    // Passed samples in a row, at most newcomer_leases_max.
    friend bool operator==(const Watch&, const Watch&) = default;
  };
  // The watches that changed since the last call, in the order of workers.
  [[nodiscard]] std::vector<Watch> take_changed_watches();
  void restore(const Watch& watch);

  [[nodiscard]] ReputationBook& book() { return book_; }
  [[nodiscard]] const ReputationBook& book() const { return book_; }
  [[nodiscard]] Admissions& admissions() { return admissions_; }
  [[nodiscard]] const Admissions& admissions() const { return admissions_; }
  // Evidence of workers, for the caller to store and restore.
  [[nodiscard]] Evidence& evidence() { return evidence_; }

 private:
  const RefereeSettings& settings_;
  ReputationBook book_;
  Admissions admissions_;
  Evidence evidence_;
  std::function<bool()> root_at_hand_;
  std::unordered_map<PublicKey, std::uint32_t> passes_;  // Passed samples in a row; never iterated.
  std::unordered_map<PublicKey, std::uint32_t> whole_checks_;  // Checks to come; never iterated.
  std::unordered_map<PublicKey, std::uint32_t> mistakes_;      // Found by a root; never iterated.
  std::set<PublicKey> changed_watches_;
};

}  // namespace weft::trust
