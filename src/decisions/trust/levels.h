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

// What the operator's invitation makes of a worker.
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
  // And only if the suspect mismatched in jobs of so many clients.
  std::uint32_t clients_to_convict = 2;
  // Where no worker of the operator's confirms a mismatch, established ones of the suspect's vendor
  // must: so many more owners right in the same job than twice those that are wrong there. A job
  // whose right answer differs by device makes most of them wrong, and accomplices of its client,
  // at most 30 % of them, take such a lead with a probability of 3.1 to the power of -lead.
  std::uint32_t lead_to_count = 8;
  std::uint32_t lead_to_convict = 16;  // Then one client is enough.
  // And they must have the same part right: a job may differ by device in one task only. So many
  // more of those that compute the part must agree with the root than differ from it; 0: none are
  // asked. Accomplices of the job's client, at most 30 % of them, reach it with a probability of
  // (3/7) to the power of the lead.
  std::int32_t part_lead_to_count = 11;
  // So many more that differ: the job's right answer may differ by device, and no mismatch of the
  // vendor counts in it any more.
  std::int32_t part_lead_to_drop = 5;
  // The most parts of a job that are polled, as a share of all its parts; at least the parts of two
  // tasks.
  double polled_share_max = 0.02;
  // Devices of two vendors or drivers must find the part wrong: the verifier's two, or its one and
  // workers of another vendor.
  bool two_devices = true;
  // What a worker was paid for is computed again as soon as two devices have found one result of it
  // wrong, and not only when it is convicted.
  bool suspects_are_rechecked = true;
  // A result that a root refutes counts against its worker once, however often it is looked at.
  bool refuted_once = true;
  // A step that a root finds wrong rejects only the result of its worker. Another worker's result
  // with the same root may be right.
  bool steps_are_their_workers = true;
  // A result of which a root refuted only steps is no mismatch if an equal result is accepted.
  bool accepted_is_no_mismatch = true;
  // The draw of groups of steps depends on all roots of the result. Otherwise a worker that has
  // learned which groups of a task are drawn hands in other roots, with another group wrong.
  bool groups_depend_on_roots = true;
  bool roots_check_pairs = true;  // Where there is a root, it checks what two established
                                  // workers agree on.
  double root_rechecks = 0.01;    // Share of the established workers' audits that a root does
                                  // again.
  // Evidence of one client, in confirmations, as a share of what a worker has.
  double client_share_max = 0.1;
  // Evidence counts if so many workers could have been given the task.
  std::uint32_t eligible_min = 10;

  // Workers count by heads, at every level.
  [[nodiscard]] static Defences none() {
    Defences defences;
    defences.newcomers_decide_nothing = false;
    defences.only_roots_convict = false;
    defences.standing_under_roots = false;
    return defences;
  }
};

// What the operator and the workers' connections say of wallets.
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
  // The vendor of the worker's device; workers whose vendor is not known are alike.
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
  // Whose wallet it is; without a function each wallet is an owner of its own.
  void set_owners(std::function<PublicKey(const PublicKey&)> owner_of) {
    owner_of_ = std::move(owner_of);
  }
  [[nodiscard]] PublicKey owner(const PublicKey& worker) const {
    return owner_of_ ? owner_of_(worker) : worker;
  }

 private:
  std::unordered_map<PublicKey, Invitation> invitations_;  // Looked up only.
  std::unordered_map<PublicKey, std::string> vendors_;     // Looked up only.
  std::function<PublicKey(const PublicKey&)> owner_of_;
};

}  // namespace weft::trust
