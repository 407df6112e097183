// WgslScan finds the workgroup size of the forms that shaders use in practice, and never guesses
// it.
#include "engine/exec/wgsl_scan.h"

#include <gtest/gtest.h>

#include "common/base/format.h"

namespace weft::exec {
namespace {

using Size = std::array<std::uint32_t, 3>;

Size size_of(std::string_view wgsl, const std::map<std::string, double>& constants = {}) {
  const auto size = WgslScan(wgsl).workgroup_size("main", constants);
  EXPECT_TRUE(size.has_value()) << wgsl << "\n" << size.error().message;
  return size.value_or(Size{});
}
std::string refusal(std::string_view wgsl, const std::map<std::string, double>& constants = {}) {
  const auto size = WgslScan(wgsl).workgroup_size("main", constants);
  return size ? "told" : size.error().message;
}

TEST(WgslScan, ReadsSizesInEveryCommonForm) {
  EXPECT_EQ(size_of("@compute @workgroup_size(64) fn main() {}"), (Size{64, 1, 1}));
  EXPECT_EQ(size_of("@workgroup_size(8, 4u,2i,) @compute fn main() {}"), (Size{8, 4, 2}));
  EXPECT_EQ(size_of("@compute\n@workgroup_size ( 0x10 , 1 )\nfn "
                    "main(@builtin(global_invocation_id) id: vec3u) {}"),
            (Size{16, 1, 1}));
  EXPECT_EQ(size_of("const w = 4 * (2 + 6); @compute @workgroup_size(w / 2, w % 5) fn main() {}"),
            (Size{16, 2, 1}));
  EXPECT_EQ(size_of("const a: u32 = u32(8); const b = a; @compute @workgroup_size(b) fn main() {}"),
            (Size{8, 1, 1}));
}

TEST(WgslScan, TakesTheEntryThatIsAskedFor) {
  const std::string_view two =
      "@compute @workgroup_size(1) fn other() { if (true) { } } fn helper() {} @compute "
      "@workgroup_size(2) fn main() {}";
  EXPECT_EQ(size_of(two), (Size{2, 1, 1}));
  EXPECT_EQ(WgslScan(two).workgroup_size("other", {}).value(), (Size{1, 1, 1}));
  EXPECT_FALSE(WgslScan(two).workgroup_size("helper", {}).has_value());
}

TEST(WgslScan, ResolvesOverridesByNameByIdAndByDefault) {
  const std::string_view wgsl =
      "override wg: u32 = 64; @id(7) override h: u32; @compute @workgroup_size(wg, h) fn main() {}";
  EXPECT_EQ(size_of(wgsl, {{"7", 2}}), (Size{64, 2, 1}));
  EXPECT_EQ(size_of(wgsl, {{"wg", 128}, {"h", 1}}), (Size{128, 1, 1}));
  EXPECT_EQ(refusal(wgsl),
            "The @workgroup_size of 'main' cannot be told: the override 'h' has no value.");
  EXPECT_EQ(refusal(wgsl, {{"wg", 1.5}, {"h", 1}}),
            "The @workgroup_size of 'main' cannot be told: 'wg' is not a whole number.");
  EXPECT_TRUE(WgslScan(wgsl).has_override("wg"));
  EXPECT_TRUE(WgslScan(wgsl).has_override("7"));
  EXPECT_FALSE(WgslScan(wgsl).has_override("64"));
}

TEST(WgslScan, IsNotFooledByComments) {
  EXPECT_EQ(size_of("// @compute @workgroup_size(1) fn main() {}\n/* /* nested */ "
                    "@workgroup_size(2) fn main() {} */"
                    "@compute @workgroup_size(/* 9 */ 3) // 4\nfn /**/ main() {}"),
            (Size{3, 1, 1}));
}

TEST(WgslScan, IsNotFooledByNamesInsideFunctions) {
  EXPECT_EQ(size_of("const n = 2; fn f() { const n = 3; { let x = 1; } } @compute "
                    "@workgroup_size(n) fn main() { const n = 5; }"),
            (Size{2, 1, 1}));
}

TEST(WgslScan, RefusesWhatItDoesNotUnderstand) {
  EXPECT_EQ(refusal("@compute @workgroup_size(max(1, 2)) fn main() {}"),
            "The @workgroup_size of 'main' cannot be told: 'max' is not understood.");
  EXPECT_EQ(refusal("@compute @workgroup_size(1 << 3) fn main() {}"),
            "The @workgroup_size of 'main' cannot be told: '<' is not understood there.");
  EXPECT_EQ(refusal("@compute @workgroup_size(0) fn main() {}"),
            "The @workgroup_size of 'main' is out of range: 0.");
  EXPECT_EQ(refusal("@compute @workgroup_size(8 / 0) fn main() {}"),
            "The @workgroup_size of 'main' cannot be told: it divides by 0.");
  EXPECT_EQ(refusal("fn main() {}"),
            "The shader has no entry point 'main' with a @workgroup_size.");
  EXPECT_EQ(refusal(""), "The shader has no entry point 'main' with a @workgroup_size.");
}

TEST(WgslScan, EndsOnHostileText) {
  EXPECT_NE(refusal("const a = b; const b = a; @compute @workgroup_size(a) fn main() {}"), "told");
  std::string doubling = "const a0 = 1;";
  for (int i = 1; i < 30; ++i) doubling += weft::format("const a{} = a{} + a{};", i, i - 1, i - 1);
  EXPECT_NE(refusal(doubling + "@compute @workgroup_size(a29 / a28) fn main() {}"), "told");
  EXPECT_NE(refusal("@compute @workgroup_size(" + std::string(100'000, '(') + ") fn main() {}"),
            "told");
  EXPECT_NE(refusal("@compute @workgroup_size(" + std::string(100'000, ')') + " fn main() {}"),
            "told");
  EXPECT_NE(refusal("/*" + std::string(100'000, '/')), "told");
  EXPECT_NE(refusal("@"), "told");
  EXPECT_NE(refusal("@workgroup_size("), "told");
  EXPECT_NE(refusal("override"), "told");
  EXPECT_NE(refusal("fn"), "told");
  EXPECT_NE(refusal("@workgroup_size(4294967295 * 4294967295 * 4294967295) fn main"), "told");
}

}  // namespace
}  // namespace weft::exec
