// The claims that devices have signed recently for whole tasks that were leased to them. They show
// that a receipt contradicts an earlier one, even if neither of the two counts. The claims of a
// device stay when it disconnects, and end with the process.
//
// Bounds: claims_of_device_max for each device, and claims_max for all. At the bound of a device
// its oldest claim is dropped; at the bound of all, the oldest claim of the device that has signed
// nothing for the longest time.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "common/base/bytes.h"
#include "common/base/ids.h"

namespace weft::jobs {

// A receipt, in the form that evidence needs.
struct SignedReceipt {
  ByteVector statement;
  ByteVector claims;
  Signature signature;
};

class SignedClaims {
 public:
  using Attempt = std::pair<TaskId, std::uint32_t>;
  static constexpr std::size_t claims_of_device_max = 1024;
  static constexpr std::size_t claims_max = 65536;

  struct Claim {
    Hash root;
    std::shared_ptr<const SignedReceipt> receipt;
  };
  // The device's first claim for this attempt, if it is remembered.
  [[nodiscard]] std::optional<Claim> find(const PublicKey& device, const Attempt& attempt) const;
  // Adds a claim. No claim of the device may be remembered for the attempt.
  void add(const PublicKey& device, const Attempt& attempt, Claim claim);

  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Device {
    std::map<Attempt, Claim> claims;
    std::list<Attempt> order;                 // The device's attempts, the oldest first.
    std::list<PublicKey>::iterator position;  // Place of the device in devices_order_.
  };
  void forget_oldest(Device& device);

  std::unordered_map<PublicKey, Device> devices_;
  std::list<PublicKey> devices_order_;  // Ordered by the latest claim, oldest first.
  std::size_t size_ = 0;
};

}  // namespace weft::jobs
