// Tests of the results for shaders that cannot be checked.
#include "apps/cli/commands/shader_check.h"

#include <gtest/gtest.h>

#include "common/manifest/manifest.h"

namespace weft::cli {
namespace {

manifest::Manifest some_manifest() {
  return manifest::parse(
             R"({"weft":1,"kind":"wgsl","name":"x","shader":{"inline":"fn main() {}"},"entry":"main",
                 "bindings":[{"binding":0,"role":"output","type":"u32","shape":[3]}],
                 "dispatch":[1,1,1],"verify":{"compare":"exact","replicas":1},"budget":1})")
      .value();
}

Result<std::vector<coordinator::ShaderComplaint>> check_with(Result<> compiled, int times = 1) {
  int calls = 0;
  const auto checker = shader_checker_with([&](const manifest::Manifest&, std::string_view) {
    ++calls;
    return compiled;
  });
  auto out = checker(some_manifest(), "fn main() {}", {});
  for (int i = 1; i < times; ++i) out = checker(some_manifest(), "fn main() {}", {});
  if (compiled) {
    EXPECT_EQ(calls, 1) << "what compiles is remembered";
  }
  return out;
}

TEST(ShaderCheck, RemembersWhatCompiles) {
  const auto good = check_with({}, 3);

  ASSERT_TRUE(good.has_value());
  EXPECT_TRUE(good->empty());
}

TEST(ShaderCheck, SaysWhereItDoesNotCompile) {
  const auto bad = check_with(fail(ErrorCode::invalid_argument, "3:16: cannot convert value"));

  ASSERT_TRUE(bad.has_value());
  EXPECT_EQ(bad->front().line, 3U);
  EXPECT_EQ(bad->front().message, "cannot convert value");
}

TEST(ShaderCheck, RefusesWhatTakesTooLongAndPassesOnlyWhatNoDeviceCanCheck) {
  EXPECT_EQ(check_with(fail(ErrorCode::deadline_exceeded, "It takes too long.")).error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(check_with(fail(ErrorCode::device_lost, "The child is lost.")).error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(check_with(fail(ErrorCode::resource_exhausted, "Others wait.")).error().code,
            ErrorCode::resource_exhausted);
  EXPECT_EQ(check_with(fail(ErrorCode::unavailable, "No GPU.")).error().code,
            ErrorCode::unavailable);
}

}  // namespace
}  // namespace weft::cli
