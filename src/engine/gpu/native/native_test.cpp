// The gpu layer on whatever device this machine has (lavapipe without a GPU): the same checks that run in the browser,
// then what only Dawn has.
#include <gtest/gtest.h>

#include "engine/gpu/conformance/conformance.h"
#include "engine/gpu/native/instance.h"

namespace weft::gpu {
namespace {

class Conformance : public testing::TestWithParam<conformance::Check> {};

TEST_P(Conformance, Holds) {
  const auto instance = native::create_instance();

  const Result<> result = run(*instance, GetParam().run(*instance));

  if (!result && result.error().code == ErrorCode::unsupported) GTEST_SKIP() << result.error().message;
  EXPECT_TRUE(result.has_value()) << result.error().message;
}

const auto name_of = [](const testing::TestParamInfo<conformance::Check>& info) { return std::string(info.param.name); };
INSTANTIATE_TEST_SUITE_P(Computes, Conformance, testing::ValuesIn(conformance::compute_checks().begin(), conformance::compute_checks().end()),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Fails, Conformance, testing::ValuesIn(conformance::error_checks().begin(), conformance::error_checks().end()), name_of);

}  // namespace
}  // namespace weft::gpu
