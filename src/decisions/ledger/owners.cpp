#include "decisions/ledger/owners.h"

#include <algorithm>

namespace weft::ledger {
namespace {

using store::Device;
using store::DeviceRole;

Result<> check_name(const std::string& name) {
  if (name.size() > Owners::name_bytes_max)
    return fail(ErrorCode::invalid_argument, "A device's name has at most {} bytes; this has {}.",
                Owners::name_bytes_max, name.size());
  if (std::ranges::any_of(name,
                          [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }))
    return fail(ErrorCode::invalid_argument, "A device's name may not have control characters.");
  return {};
}

}  // namespace

OwnerId Owners::owner_of(const PublicKey& key) const {
  const auto found = devices_.find(key);
  return found == devices_.end() ? OwnerId::of_first(key) : found->second.owner;
}

bool Owners::is_revoked(const PublicKey& key) const {
  const auto found = devices_.find(key);
  return found != devices_.end() && found->second.revoked != 0;
}

Result<> Owners::may_act(const PublicKey& key, Wants wants) const {
  const auto found = devices_.find(key);
  if (found == devices_.end()) return {};
  if (found->second.revoked != 0)
    return fail(ErrorCode::permission_denied,
                "The device {} is revoked: it no longer acts for the owner {}.", key.text(),
                found->second.owner.text());
  if (found->second.role == DeviceRole::recovery && wants != Wants::managing)
    return fail(ErrorCode::permission_denied,
                "The device {} is a recovery key of the owner {}: it adds, lists and revokes "
                "devices, and does nothing else.",
                key.text(), found->second.owner.text());
  return {};
}

std::vector<Device> Owners::devices(const OwnerId& owner) const {
  const auto found = keys_.find(owner);
  const PublicKey first{{owner.bytes}};
  if (found == keys_.end()) {
    // The owner has one device, its own key, unless this key belongs to another owner.
    if (owner_of(first) != owner) return {};
    return {Device{.key = first, .owner = owner, .name = {}}};
  }
  std::vector<Device> out;
  out.reserve(found->second.size());
  for (const PublicKey& key : found->second) out.push_back(devices_.at(key));
  return out;
}

Result<std::vector<Device>> Owners::add(const PublicKey& by, Device device, UnixMillis now) {
  WEFT_OK(may_act(by, Wants::managing));
  WEFT_OK(check_name(device.name));
  const OwnerId owner = owner_of(by);
  const auto known = devices_.find(device.key);
  if (device.key == by)
    return fail(ErrorCode::invalid_argument, "The device {} cannot add itself.", by.text());
  if (known != devices_.end() && known->second.owner == owner)
    return fail(ErrorCode::already_exists, "{} is {} device of the owner {}.", device.key.text(),
                known->second.revoked != 0 ? "a revoked" : "already a", owner.text());
  if (known != devices_.end() || keys_.contains(OwnerId::of_first(device.key)))
    return fail(ErrorCode::invalid_argument,
                "{} belongs to the owner {} permanently; make another wallet for this device.",
                device.key.text(), owner_of(device.key).text());

  std::vector<Device> changed;
  auto& keys = keys_[owner];
  const auto acting = devices_.find(by);
  const bool by_recovery = acting != devices_.end() && acting->second.role == DeviceRole::recovery;
  if (keys.size() >= devices_max + (by_recovery ? devices_reserved : 0))
    return fail(ErrorCode::resource_exhausted,
                "The owner {} has {} devices, revoked ones counted; it may have no more.",
                owner.text(), keys.size());
  const auto has_recovery = std::ranges::any_of(keys, [&](const PublicKey& key) {
    return devices_.at(key).role == DeviceRole::recovery && devices_.at(key).revoked == 0;
  });
  if (device.role == DeviceRole::recovery && has_recovery && !by_recovery)
    return fail(ErrorCode::permission_denied,
                "The owner {} has a recovery key: only a recovery key adds another one.",
                owner.text());
  const auto put = [&](Device row) {
    keys.push_back(row.key);
    devices_.emplace(row.key, row);
    changed.push_back(std::move(row));
  };
  if (keys.empty()) put({.key = by, .owner = owner, .name = {}, .added = now});
  device.owner = owner;
  device.added = now;
  device.revoked = 0;
  put(std::move(device));
  return changed;
}

Result<Device> Owners::revoke(const PublicKey& by, const PublicKey& key, UnixMillis now) {
  WEFT_OK(may_act(by, Wants::managing));
  const OwnerId owner = owner_of(by);
  const auto found = devices_.find(key);
  if (found == devices_.end() || found->second.owner != owner)
    return fail(ErrorCode::not_found, "{} is not a device of the owner {}{}.", key.text(),
                owner.text(), key == by ? " beside which there is another" : "");
  Device& device = found->second;
  if (device.revoked != 0) return device;
  const auto by_role = devices_.find(by)->second.role;
  if (device.role == DeviceRole::recovery && by_role != DeviceRole::recovery)
    return fail(ErrorCode::permission_denied,
                "{} is a recovery key: only a recovery key revokes it.", key.text());
  const auto& keys = keys_.at(owner);
  const auto another = [&](bool spends) {
    return std::ranges::any_of(keys, [&](const PublicKey& each) {
      const Device& other = devices_.at(each);
      return each != key && other.revoked == 0 && (!spends || other.role == DeviceRole::full);
    });
  };
  // A recovery device may revoke the last spending device, because a thief may hold it, and can add
  // another one afterwards.
  const bool leaves_enough =
      device.role == DeviceRole::recovery || by_role == DeviceRole::recovery || another(true);
  if (!leaves_enough || !another(false))
    return fail(ErrorCode::invalid_argument,
                "{} is the last device of the owner {} that may spend; add another one first.",
                key.text(), owner.text());
  device.revoked = now;
  return device;
}

std::vector<Device> Owners::forget_names(const OwnerId& owner) {
  std::vector<Device> changed;
  for (const Device& device : devices(owner)) {
    if (device.name.empty()) continue;
    devices_.at(device.key).name.clear();
    changed.push_back(devices_.at(device.key));
  }
  return changed;
}

Result<> Owners::restore(std::span<const Device> devices) {
  for (const Device& device : devices) {
    if (!devices_.emplace(device.key, device).second)
      return fail(ErrorCode::data_loss, "The stored device {} has two owners.", device.key.text());
    keys_[device.owner].push_back(device.key);
  }
  for (auto& [owner, keys] : keys_) {
    if (!devices_.contains(PublicKey{{owner.bytes}}))
      return fail(ErrorCode::data_loss,
                  "The store is damaged: it lacks the first device of the owner {}.", owner.text());
    std::ranges::stable_sort(keys, {},
                             [&](const PublicKey& key) { return devices_.at(key).added; });
  }
  return {};
}

}  // namespace weft::ledger
