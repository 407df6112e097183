// Whose word counts. Wallets are free, so that no number of them decides anything: each verdict
// rests on something that cannot be had for free.
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

// The effect of the operator's invitation on a worker's level.
enum class Invitation : std::uint8_t { none, worker, verifier };

// The rules that keep free wallets from deciding. Each is one field, so that a test can show what
// happens without it.
struct Defences {
  bool newcomers_decide_nothing = true;  // Agreement counts by levels, not by heads.
  bool only_roots_convict = true;        // A result that others outvote costs no standing.
  bool standing_under_roots = true;      // Only what a root has confirmed counts as evidence.
  // A mismatch convicts only if a trusted worker of the suspect's vendor agrees with the root:
  // otherwise a shader whose right answer differs by device would convict honest workers.
  bool same_vendor_confirms = true;
  // A mismatch convicts only if the suspect has mismatches in jobs of this many clients.
  std::uint32_t clients_to_convict = 2;
  // If no worker of the operator confirms a mismatch, established workers of the suspect's vendor
  // must confirm it: the owners whose results in the job are right must outnumber twice the owners
  // whose results are wrong by this lead. If the right answer of a job differs by device, most of
  // them are wrong. The accomplices of its client, at most 30 % of the workers, reach this lead
  // with a probability of 3.1 to the power of -lead.
  std::uint32_t lead_to_count = 8;
  std::uint32_t lead_to_convict = 16;  // With this lead, mismatches in jobs of one client convict.
  // Established workers of the suspect's vendor must also compute the wrong part itself right,
  // because a job may differ by device in one task only: the workers that agree with the root must
  // outnumber those that differ by this lead. 0 asks no workers. The accomplices of the job's
  // client, at most 30 % of the workers, reach this lead with a probability of (3/7) to the power
  // of the lead.
  std::int32_t part_lead_to_count = 11;
  // If the workers that differ from the root outnumber those that agree by this lead, the job's
  // right answer may differ by device, and no mismatch of the vendor counts in the job any more.
  std::int32_t part_lead_to_drop = 5;
  // The most parts of a job that are polled, as a share of all its parts; at least the parts of two
  // tasks.
  double polled_share_max = 0.02;
  // Devices of two vendors or drivers must find the part wrong: the verifier's two, or its one and
  // workers of another vendor.
  bool two_devices = true;
  // The paid tasks of a worker are computed again as soon as two devices have found one of its
  // results wrong, and not only after its conviction.
  bool suspects_are_rechecked = true;
  // A result that a root refutes counts against its worker once, even if several checks refute it.
  bool refuted_once = true;
  // A step that a root finds wrong rejects only the result of its worker. Another worker's result
  // with the same root may be right.
  bool steps_are_their_workers = true;
  // A result of which a root refuted only steps is no mismatch if an equal result is accepted.
  bool accepted_is_no_mismatch = true;
  // The draw of groups of steps depends on all roots of the result. Otherwise a worker that has
  // learned which groups of a task are drawn hands in other roots, with another group wrong.
  bool groups_depend_on_roots = true;
  // A root also checks results on which two established workers agree, if a root is connected.
  bool roots_check_pairs = true;
  // The share of the established workers' audits that a root repeats.
  double root_rechecks = 0.01;
  // The largest part of a worker's evidence, in confirmations, that may come from one client.
  double client_share_max = 0.1;
  // Evidence counts only if at least this many workers could have been given the task.
  std::uint32_t eligible_min = 10;

  // Turns the rules off that distinguish levels: every worker counts as one vote.
  [[nodiscard]] static Defences none() {
    Defences defences;
    defences.newcomers_decide_nothing = false;
    defences.only_roots_convict = false;
    defences.standing_under_roots = false;
    return defences;
  }
};

// The facts about wallets that come from the operator and from the workers' connections.
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
  // Sets the vendor of the worker's device. All workers with unknown vendors count as one vendor.
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
  // Sets the function that returns a wallet's owner. Without it each wallet is an owner by itself.
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
