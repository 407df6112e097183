// Which owner each key belongs to. Every key is an owner with one device, itself, until it becomes
// a device of another owner; owners with one device need no entry here.
//
// A key that has become a device of an owner stays that owner's permanently: revoked, it may not
// act any more, and what it is still to be paid is its owner's. Thus a stolen key cannot be carried
// over to another owner, and money on its way cannot be diverted by adding or revoking devices.
//
// Pure: the time is passed in. Threading: one thread. Bounds: devices_max an owner, names of
// name_bytes_max; entries are made by wallets that hold credits only (the caller's to check).
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
  static constexpr std::size_t devices_max = 32;  // Revoked ones too.
  // Beyond it, for recovery devices: a thief that has filled the list locks no owner out.
  static constexpr std::size_t devices_reserved = 16;
  static constexpr std::size_t name_bytes_max = 64;

  // The owner that acts, is paid and pays where `key` does.
  [[nodiscard]] OwnerId owner_of(const PublicKey& key) const;
  // permission_denied if the key is revoked, or is a recovery device and `managing` is not what
  // it wants.
  enum class Wants : std::uint8_t { spending, managing };
  [[nodiscard]] Result<> may_act(const PublicKey& key, Wants wants) const;
  [[nodiscard]] bool is_revoked(const PublicKey& key) const;

  // The devices of the owner, the first one too, in the order in which they were added.
  [[nodiscard]] std::vector<store::Device> devices(const OwnerId& owner) const;

  // `by` adds `device.key` to its owner (device.owner is set here). The new key must have agreed,
  // and must own nothing: both are the caller's to check, which has signatures and balances. Gives
  // the rows that changed: the first device of an owner is stored with its second one.
  //
  // permission_denied if `by` may not act, or adds a recovery device beside another one without
  // being one; already_exists if the key is a device of this owner already; invalid_argument
  // if it belongs to another one, has devices of its own, is `by`, or the name is too long or
  // has control characters; resource_exhausted beyond devices_max.
  [[nodiscard]] Result<std::vector<store::Device>> add(const PublicKey& by, store::Device device,
                                                       UnixMillis now);
  // permission_denied if `by` may not act or the device is a recovery device and `by` is not;
  // not_found if the key is no device of this owner; invalid_argument if it is the last one
  // of all, or the last one that may spend and `by` is no recovery device. A revoked one stays as
  // it is.
  [[nodiscard]] Result<store::Device> revoke(const PublicKey& by, const PublicKey& key,
                                             UnixMillis now);

  // Devices lose their names: the rows that changed. Keys stay their owner's.
  [[nodiscard]] std::vector<store::Device> forget_names(const OwnerId& owner);

  // At the start. data_loss if a key has two owners.
  [[nodiscard]] Result<> restore(std::span<const store::Device> devices);

 private:
  std::unordered_map<PublicKey, store::Device> devices_;
  std::map<OwnerId, std::vector<PublicKey>> keys_;  // In the order in which they were added.
};

}  // namespace weft::ledger
