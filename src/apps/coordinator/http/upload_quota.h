// Bounds the bytes that owners of credits upload: each owner may use a share of the room for blobs
// an hour. Without the bound an owner could fill the disk with blobs that no job names, which stay
// for an hour (apps/coordinator/blob_sweep.h). All devices of an owner share its quota. Threading:
// any thread.
#pragma once

#include <cstdint>

#include "common/base/clock.h"
#include "common/base/format.h"
#include "common/base/guarded.h"
#include "common/base/ids.h"
#include "common/base/result.h"
#include "platform/net/rate_limit.h"

namespace weft::coordinator {

class UploadQuota {
 public:
  // `blobs_bytes_max` bounds all blobs together; `share` is the part that one owner may upload an
  // hour.
  UploadQuota(std::uint64_t blobs_bytes_max, double share)
      : bytes_(static_cast<double>(blobs_bytes_max) * share),
        limit_(net::RateLimit({.per_second = bytes_ / seconds_of_window, .burst = bytes_})) {}

  // Counts an upload. Fails with resource_exhausted if the owner's quota is too small for it.
  [[nodiscard]] Result<> take(const OwnerId& owner, std::uint64_t bytes, Instant at) {
    const bool taken = limit_.with([&](net::RateLimit& limit) {
      return limit.take(PublicKey{owner.bytes}.text(), static_cast<double>(bytes), at);
    });
    if (taken) return {};
    return fail(
        ErrorCode::resource_exhausted,
        "An owner may upload at most {:.0f} bytes within an hour (a part of --blobs-bytes-max), "
        "and this upload of {} bytes is more than what is left; try again later.",
        bytes_, bytes);
  }

  // The owner's remaining quota in bytes.
  [[nodiscard]] net::RateLimit::Left left(const OwnerId& owner, Instant at) const {
    return limit_.with(
        [&](const net::RateLimit& limit) { return limit.left(PublicKey{owner.bytes}.text(), at); });
  }

 private:
  static constexpr double seconds_of_window = 3600;
  const double bytes_;
  Guarded<net::RateLimit> limit_;
};

}  // namespace weft::coordinator
