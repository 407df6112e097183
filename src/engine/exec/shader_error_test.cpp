// Messages in an unknown wording still give one line, and a message that already has a place keeps
// it. (bad_shaders_test.cpp tests the messages of a real device.)
#include "engine/exec/shader_error.h"

#include <gtest/gtest.h>

#include "engine/exec/wgsl_scan.h"

namespace weft::exec {
namespace {

constexpr std::string_view shader =
    "@group(0) @binding(2)\nvar<storage> y: array<u32>;\n@compute @workgroup_size(1) fn main() {}";

std::string sentence(std::string message, ErrorCode code = ErrorCode::invalid_argument) {
  return shader_error({code, std::move(message)}, WgslScan(shader), "main").message;
}

TEST(ShaderError, KeepsWhatHasAPlace) {
  EXPECT_EQ(sentence("3:17: unresolved value 'x'"), "3:17: unresolved value 'x'");
  EXPECT_EQ(sentence("3:17: unresolved value\n'x'"), "3:17: unresolved value 'x'");
}

TEST(ShaderError, KeepsTheFirstSentenceOfWhatItDoesNotKnow) {
  EXPECT_EQ(
      sentence("Something about [ShaderModule \"job\"] is new.\n - While validating [Device]."),
      "Something about the shader is new.");
  EXPECT_EQ(sentence("Something is new.\n - While looking at @group(0) @binding(2)."),
            "1:1: @group(0) @binding(2): Something is new.");
  EXPECT_EQ(sentence("Something is new.\n - While looking at @group(0) @binding(3)."),
            "@group(0) @binding(3): Something is new.");
  EXPECT_EQ(sentence(""), "");
  EXPECT_EQ(sentence("[ShaderModule without an end"), "[ShaderModule without an end");
  EXPECT_EQ(sentence("@group( @binding(").size(), 17u);
}

TEST(ShaderError, LeavesErrorsThatAreNotTheShaders) {
  EXPECT_EQ(sentence("The GPU was lost.\nBinding doesn't exist", ErrorCode::device_lost),
            "The GPU was lost.\nBinding doesn't exist");
}

}  // namespace
}  // namespace weft::exec
