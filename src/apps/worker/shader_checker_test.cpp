// What a coordinator learns about a submitted shader before anybody runs it.
#include "apps/worker/shader_checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::worker {
namespace {

const Sandbox::Options options{.program = WEFT_SANDBOX_CHILD, .arguments = {}};

manifest::Manifest manifest_of(std::string_view entry) {
  return manifest::
      parse(R"({"weft":1,"kind":"wgsl","name":"t","shader":{"inline":"x"},"entry":")" + std::string(entry) +
            R"(","bindings":[{"binding":0,"role":"output","type":"u32","shape":[64]},{"binding":1,"role":"input","type":"f32","shape":[1000],"path":"nowhere.bin"}],"dispatch":[4]})")
          .value();
}
constexpr const char* good =
    "@group(0) @binding(0) var<storage, read_write> y: array<u32>;\n"
    "@group(0) @binding(1) var<storage, read> x: array<f32>;\n"
    "@compute @workgroup_size(16) fn main(@builtin(global_invocation_id) id: vec3u) { y[id.x] = u32(x[id.x]); }";

TEST(ShaderChecker, AcceptsAShaderWithoutItsData) {
  ShaderChecker checker(options);
  const auto checked = checker.check(manifest_of("main"), good);
  EXPECT_TRUE(checked.has_value()) << checked.error().message;
}

TEST(ShaderChecker, NamesLineAndColumnAndWhatDoesNotFit) {
  ShaderChecker checker(options);
  const auto broken = checker.check(manifest_of("main"), "\n\n  fn main() { let x: i32 = 1.5; }");
  ASSERT_FALSE(broken.has_value());
  EXPECT_EQ(broken.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(broken.error().message, testing::HasSubstr("3:"));

  const auto missing = checker.check(manifest_of("other"), good);
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(missing.error().message, testing::HasSubstr("other"));
  EXPECT_TRUE(checker.check(manifest_of("main"), good).has_value());
}

TEST(ShaderChecker, SaysUnavailableWhereItCannotTell) {
  ShaderChecker checker({.program = "/bin/false", .arguments = {}});
  EXPECT_EQ(checker.check(manifest_of("main"), good).error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace weft::worker
