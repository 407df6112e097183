// The devices of owners, as rows of the store.
#pragma once

#include <string>
#include <string_view>

#include "common/base/clock.h"
#include "common/records/account.h"

namespace weft::store {

// The messages that a device may sign. A recovery device only manages devices, so that it can be
// kept in a drawer; it can be revoked only by a recovery device.
enum class DeviceRole : std::uint8_t { full = 0, recovery = 1 };
[[nodiscard]] inline std::string_view to_string(DeviceRole role) {
  return role == DeviceRole::full ? "full" : "recovery";
}

// A key that belongs to an owner permanently. A revoked key may not act for any owner, and its
// outstanding pay goes to its owner.
struct Device {
  PublicKey key;
  OwnerId owner;
  DeviceRole role = DeviceRole::full;
  std::string name;  // Name of the device for people.
  UnixMillis added = 0;
  UnixMillis revoked = 0;  // Time of the revocation; 0: not revoked.
  friend bool operator==(const Device&, const Device&) = default;
};

}  // namespace weft::store
