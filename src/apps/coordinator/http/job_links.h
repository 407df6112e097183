// Links that show one job to readers without its owner's signature: `?link=LINK` at the routes of
// the job. A link is the first half of the HMAC-SHA-256 of the job's id with a secret that the
// store keeps. Links are not stored. A link shows only its own job, as long as the job exists.
//
// Threading: any.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "common/base/ids.h"

namespace weft::coordinator {

class JobLinks {
 public:
  explicit JobLinks(ByteSpan secret);

  // Returns the link of a job: 32 hex digits.
  [[nodiscard]] std::string of(const JobId& job) const;
  [[nodiscard]] bool opens(const JobId& job, std::string_view link) const;

 private:
  Hash key_;
};

}  // namespace weft::coordinator
