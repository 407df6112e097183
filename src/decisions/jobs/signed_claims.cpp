#include "decisions/jobs/signed_claims.h"

#include "common/base/check.h"

namespace weft::jobs {

std::optional<SignedClaims::Claim> SignedClaims::find(const PublicKey& device,
                                                      const Attempt& attempt) const {
  const auto of = devices_.find(device);
  if (of == devices_.end()) return std::nullopt;
  const auto claim = of->second.claims.find(attempt);
  return claim == of->second.claims.end() ? std::nullopt : std::optional(claim->second);
}

void SignedClaims::add(const PublicKey& device, const Attempt& attempt, Claim claim) {
  auto of = devices_.find(device);
  if (of == devices_.end()) {
    of = devices_.emplace(device, Device{}).first;
    of->second.position = devices_order_.insert(devices_order_.end(), device);
  } else {
    devices_order_.splice(devices_order_.end(), devices_order_, of->second.position);
  }
  check(of->second.claims.emplace(attempt, std::move(claim)).second, "an attempt is added once");
  of->second.order.push_back(attempt);
  ++size_;
  if (of->second.claims.size() > claims_of_device_max) forget_oldest(of->second);
  while (size_ > claims_max) {
    const auto idle = devices_.find(devices_order_.front());
    forget_oldest(idle->second);
    if (!idle->second.claims.empty()) continue;
    devices_order_.pop_front();
    devices_.erase(idle);
  }
}

void SignedClaims::forget_oldest(Device& device) {
  device.claims.erase(device.order.front());
  device.order.pop_front();
  --size_;
}

}  // namespace weft::jobs
