#include "apps/coordinator/http/job_links.h"

#include "common/crypto/hmac.h"

namespace weft::coordinator {

namespace {
constexpr std::string_view purpose = "weft-job-links-1";
constexpr std::size_t link_bytes = 16;
}  // namespace

JobLinks::JobLinks(ByteSpan secret) : key_(crypto::hmac_sha256(secret, as_bytes(purpose))) {}

std::string JobLinks::of(const JobId& job) const {
  const Hash whole = crypto::hmac_sha256(key_.bytes, job.bytes);
  return to_hex(ByteSpan(whole.bytes).first(link_bytes));
}

bool JobLinks::opens(const JobId& job, std::string_view link) const {
  return crypto::equal_in_constant_time(as_bytes(of(job)), as_bytes(link));
}

}  // namespace weft::coordinator
