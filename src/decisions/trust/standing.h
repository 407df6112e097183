// Whose word counts (levels.h), and how closely a worker's own results are looked at: what is known
// of wallets, whatever they do in one job.
//
// Pure: the time is passed in. Not safe to share between threads. Memory: a few numbers for each
// wallet that ever handed something in.
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
  // `settings` outlives it.
  explicit Standing(const RefereeSettings& settings)
      : settings_(settings), book_(settings.reputation) {}

  // Whether the coordinator has a root of its own at hand, its verifier; without it: no.
  void set_root_at_hand(std::function<bool()> at_hand) { root_at_hand_ = std::move(at_hand); }
  [[nodiscard]] bool root_at_hand() const { return root_at_hand_ && root_at_hand_(); }
  // Workers count alike, whatever they have shown.
  [[nodiscard]] bool trusts_heads() const { return !settings_.defences.newcomers_decide_nothing; }

  [[nodiscard]] Level level(const PublicKey& worker, UnixMillis now) const;
  // A root, or a worker that the operator invited: believed alone.
  [[nodiscard]] bool is_operators(const PublicKey& worker, UnixMillis now) const;
  // Whether the agreement of these workers decides: one of the operator's among them, or two
  // established ones of different owners.
  [[nodiscard]] bool decides(std::span<const PublicKey> workers, UnixMillis now) const;
  // The same, but two established workers do not where there is a root to check them.
  [[nodiscard]] bool settles(std::span<const PublicKey> workers, UnixMillis now) const;
  // Whether one of these is the operator's, of an owner other than the suspect's, and has a device
  // of the suspect's vendor.
  [[nodiscard]] bool operator_has_device_of(const PublicKey& suspect,
                                            std::span<const PublicKey> workers,
                                            UnixMillis now) const;

  // How many leases a worker may hold whose results are not decided.
  [[nodiscard]] std::uint32_t leases_max(const PublicKey& worker, UnixMillis now) const;
  // The part of its next result that a root computes again, where the result can be cut so far.
  [[nodiscard]] double sample_share(const PublicKey& worker, UnixMillis now) const;
  // A root found a result of it wrong recently: its next results are checked whole, and its pay is
  // held.
  [[nodiscard]] bool watched(const PublicKey& worker) const {
    return !trusts_heads() && whole_checks_.contains(worker);
  }
  // Whether its next result is checked whole for that, which counts as one of those.
  [[nodiscard]] bool take_whole_check(const PublicKey& worker);

  // A root has confirmed a result of it.
  void sample_passed(const PublicKey& worker);
  // A result of it did not stand.
  void sample_failed(const PublicKey& worker);
  // A root found a result of it wrong. The more often, the longer it is watched: what cannot be
  // told from its device's fault convicts no worker.
  void watch(const PublicKey& worker);
  // To be stored and restored.
  struct Watch {
    PublicKey worker;
    std::uint32_t checks = 0;    // So many of its next results are checked whole.
    std::uint32_t mistakes = 0;  // That a root found.
    std::uint32_t passes = 0;    // Samples in a row, newcomer_leases_max at most.
    friend bool operator==(const Watch&, const Watch&) = default;
  };
  // Those that changed since the last call, by worker.
  [[nodiscard]] std::vector<Watch> take_changed_watches();
  void restore(const Watch& watch);

  [[nodiscard]] ReputationBook& book() { return book_; }
  [[nodiscard]] const ReputationBook& book() const { return book_; }
  [[nodiscard]] Admissions& admissions() { return admissions_; }
  [[nodiscard]] const Admissions& admissions() const { return admissions_; }
  [[nodiscard]] Evidence& evidence() { return evidence_; }  // To be stored and restored.

 private:
  const RefereeSettings& settings_;
  ReputationBook book_;
  Admissions admissions_;
  Evidence evidence_;
  std::function<bool()> root_at_hand_;
  std::unordered_map<PublicKey, std::uint32_t> passes_;        // Samples in a row; looked up only.
  std::unordered_map<PublicKey, std::uint32_t> whole_checks_;  // To come; looked up only.
  std::unordered_map<PublicKey, std::uint32_t> mistakes_;      // That a root found; looked up only.
  std::set<PublicKey> changed_watches_;
};

}  // namespace weft::trust
