// The owner of each key. Every key is an owner with one device, itself, until it becomes a device
// of another owner; owners with one device need no entry here.
//
// A key that has become a device of an owner stays that owner's permanently. After it is revoked it
// may not act any more, and its outstanding pay goes to its owner. So a stolen key cannot be moved
// to another owner, and money on its way cannot be diverted by adding or revoking devices.
//
// Pure: the time is passed in. Threading: one thread. Bounds: devices_max an owner, and names of
// name_bytes_max bytes. Only wallets that hold credits make entries (the caller checks this).
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/base/result.h"
#include "common/records/device.h"

namespace weft::ledger {

class Owners {
 public:
  // Most devices of an owner, with the revoked ones.
  static constexpr std::size_t devices_max = 32;
  // Additional places for recovery devices, so that a thief that has filled the list locks no owner
  // out.
  static constexpr std::size_t devices_reserved = 16;
  static constexpr std::size_t name_bytes_max = 64;

  // The owner that acts, pays and is paid for `key`.
  [[nodiscard]] OwnerId owner_of(const PublicKey& key) const;
  // Succeeds if the key may act. Fails with permission_denied if the key is revoked, or if it is a
  // recovery device and `wants` is not `managing`.
  enum class Wants : std::uint8_t { spending, managing };
  [[nodiscard]] Result<> may_act(const PublicKey& key, Wants wants) const;
  [[nodiscard]] bool is_revoked(const PublicKey& key) const;

  // The devices of the owner, including the first one, in the order in which they were added.
  [[nodiscard]] std::vector<store::Device> devices(const OwnerId& owner) const;

  // Lets `by` add `device.key` to its owner (this sets device.owner). The new key must have agreed,
  // and must own nothing: the caller checks both, because it has signatures and balances. Returns
  // the rows that changed: the first device of an owner is stored together with its second one.
  //
  // Fails with permission_denied if `by` may not act, or adds a recovery device although another
  // one exists and `by` is not one; with already_exists if the key is a device of this owner
  // already; with invalid_argument if the key belongs to another owner, has devices of its own or
  // is `by`, or if the name is too long or has control characters; with resource_exhausted beyond
  // devices_max.
  [[nodiscard]] Result<std::vector<store::Device>> add(const PublicKey& by, store::Device device,
                                                       UnixMillis now);
  // Revokes a device. Fails with permission_denied if `by` may not act, or if the device is a
  // recovery device and `by` is not; with not_found if the key is not a device of this owner; with
  // invalid_argument if it is the last device, or the last one that may spend and `by` is not a
  // recovery device. The revocation of a device that was revoked before changes nothing.
  [[nodiscard]] Result<store::Device> revoke(const PublicKey& by, const PublicKey& key,
                                             UnixMillis now);

  // Deletes the names of the owner's devices, which stay its devices. Returns the rows that
  // changed.
  [[nodiscard]] std::vector<store::Device> forget_names(const OwnerId& owner);

  // Restores stored devices at the start. Fails with data_loss if a key has two owners.
  [[nodiscard]] Result<> restore(std::span<const store::Device> devices);

 private:
  std::unordered_map<PublicKey, store::Device> devices_;
  // Keys of each owner in the order in which they were added.
  std::map<OwnerId, std::vector<PublicKey>> keys_;
};

}  // namespace weft::ledger
