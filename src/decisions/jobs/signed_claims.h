// What devices have signed lately for whole tasks that were leased to them, so that a receipt that
// contradicts an earlier one is seen, whether or not either of them ever counts. It stays when a
// device leaves, and ends with the process.
//
// Bounds: claims_of_device_max for each device, and claims_max of all. What was signed first goes
// first, of the device or of the one that has signed nothing for the longest.
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

// A receipt, as evidence needs it.
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
  // The first one of this attempt, where it is remembered.
  [[nodiscard]] std::optional<Claim> find(const PublicKey& device, const Attempt& attempt) const;
  // None may be remembered for the attempt.
  void add(const PublicKey& device, const Attempt& attempt, Claim claim);

  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Device {
    std::map<Attempt, Claim> claims;
    std::list<Attempt> order;                 // Oldest first.
    std::list<PublicKey>::iterator position;  // In devices_order_.
  };
  void forget_oldest(Device& device);

  std::unordered_map<PublicKey, Device> devices_;
  std::list<PublicKey> devices_order_;  // The one that has signed nothing for the longest first.
  std::size_t size_ = 0;
};

}  // namespace weft::jobs
