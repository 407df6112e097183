#include "apps/coordinator/http/job_links.h"

#include <gtest/gtest.h>

namespace weft::coordinator {
namespace {

Hash secret_of(std::uint8_t byte) {
  Hash secret;
  secret.bytes.fill(byte);
  return secret;
}

JobId job_of(std::uint8_t byte) {
  JobId job;
  job.bytes.fill(byte);
  return job;
}

TEST(JobLinks, OpenTheirJobAndNoOther) {
  const JobLinks links(secret_of(1).bytes);
  const std::string link = links.of(job_of(1));

  EXPECT_EQ(link.size(), 32U);
  EXPECT_TRUE(links.opens(job_of(1), link));
  EXPECT_FALSE(links.opens(job_of(2), link));
  EXPECT_FALSE(links.opens(job_of(1), ""));
  EXPECT_FALSE(links.opens(job_of(1), link.substr(1)));
  EXPECT_FALSE(links.opens(job_of(1), link + "0"));
}

TEST(JobLinks, AreMadeWithTheSecretOnly) {
  const std::string link = JobLinks(secret_of(1).bytes).of(job_of(1));

  EXPECT_TRUE(JobLinks(secret_of(1).bytes).opens(job_of(1), link)) << "after a restart";
  EXPECT_FALSE(JobLinks(secret_of(2).bytes).opens(job_of(1), link));
}

}  // namespace
}  // namespace weft::coordinator
