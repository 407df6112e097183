// The levels of trust, which decide whose word counts. Wallets are free, so that no number of them
// decides anything: each verdict rests on something that cannot be had for free.
//
//   root          its evidence decides, and convicts: the coordinator's own checks, its verifier
//                 process, and workers that the operator invited as verifiers
//   invited       the operator's own worker: believed alone, convicts no other
//   established   earned its standing under roots: two of different owners decide together
//   newcomer      decides nothing
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "common/base/ids.h"

namespace weft::trust {

enum class Level : std::uint8_t { newcomer, established, invited, root };
[[nodiscard]] constexpr std::string_view to_string(Level level) {
  switch (level) {
    case Level::newcomer:
      break;
    case Level::established:
      return "established";
    case Level::invited:
      return "invited";
    case Level::root:
      return "verifier";
  }
  return "newcomer";
}

// The role for which the operator invited a worker.
enum class Invitation : std::uint8_t { none, worker, verifier };

// The rules that keep free wallets from deciding. Each is one field, so that a test can show what
// happens without it.
struct Defences {
  bool newcomers_decide_nothing = true;  // Agreement counts by levels, not by heads.
  bool only_roots_convict = true;        // A result that is only outvoted costs no standing.
  bool standing_under_roots = true;      // Only a root's confirmations count as evidence.
  // A mismatch convicts only if a trusted worker of the suspect's vendor agrees with the root:
  // otherwise a shader whose right answer differs by device would convict honest workers.
  bool same_vendor_confirms = true;
  // A mismatch convicts only if the suspect has mismatches in jobs of this number of clients.
  std::uint32_t clients_to_convict = 2;
  // If no worker of the operator's confirms a mismatch, the established workers of the suspect's
  // vendor must: the number of their owners that are right in the job, minus twice the number of
  // those that are wrong, must reach this lead. A job whose right answer differs by device makes
  // most of them wrong. Accomplices of its client, at most 30 % of the workers, reach a lead with a
  // probability of 3.1 to the power of -lead.
  std::uint32_t lead_to_count = 8;
  std::uint32_t lead_to_convict = 16;  // One client is enough at this lead.
  // In addition, workers of the suspect's vendor must have the same part right, because a job may
  // differ by device in one task only. Of the workers that are asked to compute the part, this
  // number more must agree with the root than differ from it; 0: none are asked. Accomplices of the
  // job's client, at most 30 % of the workers, reach a lead with a probability of (3/7) to the
  // power of the lead.
  std::int32_t part_lead_to_count = 11;
  // If this number more of the asked workers differ from the root than agree with it, the job's
  // right answer may differ by device, and no mismatch of the vendor counts in the job any more.
  std::int32_t part_lead_to_drop = 5;
  // Maximum number of parts of a job that are polled, as a share of all its parts; at least the
  // parts of two tasks.
  double polled_share_max = 0.02;
  // Devices of two vendors or drivers must find the part wrong: either the verifier's two devices,
  // or its only device and workers of another vendor.
  bool two_devices = true;
  // The paid tasks of a worker are computed again as soon as two devices have found one result of
  // it wrong, and not only when the worker is convicted.
  bool suspects_are_rechecked = true;
  // A result that a root refutes counts against its worker once, however often it is checked.
  bool refuted_once = true;
  // A step that a root finds wrong rejects only the result of its worker. Another worker's result
  // with the same root may be right.
  bool steps_are_their_workers = true;
  // A result of which a root refuted only steps is no mismatch if an equal result is accepted.
  bool accepted_is_no_mismatch = true;
  // The draw of groups of steps depends on all roots of the result. Otherwise a worker could learn
  // which groups of a task are drawn, and hand in other roots in which another group is wrong.
  bool groups_depend_on_roots = true;
  // If there is a root, it checks the results on which two established workers agree.
  bool roots_check_pairs = true;
  // The share of the audits by established workers that a root does again.
  double root_rechecks = 0.01;
  // The most evidence, in confirmations, that may come from one
  // client, as a share of the worker's evidence.
  double client_share_max = 0.1;
  // A confirmation counts only if this number of workers could have been given the task.
  std::uint32_t eligible_min = 10;

  // Settings by which workers count by heads, at every level.
  [[nodiscard]] static Defences none() {
    Defences defences;
    defences.newcomers_decide_nothing = false;
    defences.only_roots_convict = false;
    defences.standing_under_roots = false;
    return defences;
  }
};

// Facts about wallets: the operator's invitations, the owners, and the vendors that workers named
// when they connected.
class Admissions {
 public:
  void invite(const PublicKey& worker, Invitation invitation) {
    if (invitation == Invitation::none) {
      invitations_.erase(worker);
    } else {
      invitations_[worker] = invitation;
    }
  }
  [[nodiscard]] Invitation invitation(const PublicKey& worker) const {
    const auto found = invitations_.find(worker);
    return found == invitations_.end() ? Invitation::none : found->second;
  }
  // Sets the vendor of the worker's device. All workers without a known vendor are treated as one
  // vendor.
  void set_vendor(const PublicKey& worker, std::string vendor) {
    if (vendor.empty()) {
      vendors_.erase(worker);
    } else {
      vendors_[worker] = std::move(vendor);
    }
  }
  [[nodiscard]] std::string_view vendor(const PublicKey& worker) const {
    const auto found = vendors_.find(worker);
    return found == vendors_.end() ? std::string_view() : std::string_view(found->second);
  }
  [[nodiscard]] bool same_vendor(const PublicKey& a, const PublicKey& b) const {
    return vendor(a) == vendor(b);
  }
  // Sets the function that returns the owner of a wallet. Without it, each wallet is its own owner.
  void set_owners(std::function<PublicKey(const PublicKey&)> owner_of) {
    owner_of_ = std::move(owner_of);
  }
  [[nodiscard]] PublicKey owner(const PublicKey& worker) const {
    return owner_of_ ? owner_of_(worker) : worker;
  }

 private:
  std::unordered_map<PublicKey, Invitation> invitations_;  // Never iterated.
  std::unordered_map<PublicKey, std::string> vendors_;     // Never iterated.
  std::function<PublicKey(const PublicKey&)> owner_of_;
};

}  // namespace weft::trust
