#include "apps/coordinator/http/job_links.h"

#include <gtest/gtest.h>

namespace weft::coordinator {
namespace {

Hash filled_secret(std::uint8_t byte) {
  Hash secret;
  secret.bytes.fill(byte);
  return secret;
}

JobId numbered_job(std::uint8_t byte) {
  JobId job;
  job.bytes.fill(byte);
  return job;
}

TEST(JobLinks, OpenTheirJobAndNoOther) {
  const JobLinks links(filled_secret(1).bytes);
  const std::string link = links.of(numbered_job(1));

  EXPECT_EQ(link.size(), 32U);
  EXPECT_TRUE(links.opens(numbered_job(1), link));
  EXPECT_FALSE(links.opens(numbered_job(2), link));
  EXPECT_FALSE(links.opens(numbered_job(1), ""));
  EXPECT_FALSE(links.opens(numbered_job(1), link.substr(1)));
  EXPECT_FALSE(links.opens(numbered_job(1), link + "0"));
}

TEST(JobLinks, AreMadeWithTheSecretOnly) {
  const std::string link = JobLinks(filled_secret(1).bytes).of(numbered_job(1));

  EXPECT_TRUE(JobLinks(filled_secret(1).bytes).opens(numbered_job(1), link)) << "after a restart";
  EXPECT_FALSE(JobLinks(filled_secret(2).bytes).opens(numbered_job(1), link));
}

}  // namespace
}  // namespace weft::coordinator
