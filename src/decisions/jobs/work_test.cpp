// Tests that equal work is recognised whatever its client calls it, however it is cut and checked,
// and that other programs, data or sizes are other work.
#include "decisions/jobs/work.h"

#include <gtest/gtest.h>

#include <string>

#include "common/crypto/sha256.h"

namespace weft::jobs {
namespace {

manifest::Manifest parsed(const std::string& change = "", const std::string& into = "") {
  std::string text =
      R"({"weft":1,"kind":"wgsl","name":"a","shader":{"inline":"@compute"},"entry":"main",)"
      R"("bindings":[{"binding":0,"role":"input","type":"u32","shape":[1],"value":[7]},)"
      R"({"binding":1,"role":"output","type":"u32","shape":[64],"split_dim":0}],)"
      R"("dispatch":[64,1,1],"split":{"axis":"x","tasks":8},)"
      R"("verify":{"compare":"exact","replicas":2},"budget":10})";
  if (!change.empty()) {
    const auto at = text.find(change);
    EXPECT_NE(at, std::string::npos) << change;
    text.replace(at, change.size(), into);
  }
  auto manifest = manifest::parse(text);
  EXPECT_TRUE(manifest.has_value()) << manifest.error().message;
  return *manifest;
}

TEST(Work, IsTheSameWhateverDoesNotChangeAWorkgroup) {
  const Hash work = work_of(parsed());
  EXPECT_EQ(work_of(parsed("\"a\"", "\"b\"")), work);
  EXPECT_EQ(work_of(parsed("\"budget\":10", "\"budget\":20")), work);
  EXPECT_EQ(work_of(parsed("\"budget\":10", "\"budget\":10,\"priority\":90,\"deadline_s\":5")),
            work);
  EXPECT_EQ(work_of(parsed("\"tasks\":8", "\"tasks\":4")), work);
  EXPECT_EQ(work_of(parsed("\"replicas\":2", "\"replicas\":3")), work);
}

TEST(Work, IsAnotherWithAnotherProgramOtherDataOrAnotherSize) {
  const Hash work = work_of(parsed());
  EXPECT_NE(work_of(parsed("@compute", "@compute ")), work);
  EXPECT_NE(work_of(parsed("[7]", "[8]")), work);
  EXPECT_NE(work_of(parsed("\"dispatch\":[64,1,1]", "\"dispatch\":[64,2,1]")), work);
}

TEST(Work, DataAreTheSameInlineAndAsBlobs) {
  const manifest::Manifest inlined = parsed();
  manifest::Manifest stored = inlined;
  auto& data = stored.bindings[0].data;
  data = manifest::Blob{crypto::sha256(std::get<manifest::Inline>(data).bytes)};
  EXPECT_EQ(work_of(inlined), work_of(stored));
  EXPECT_EQ(stored_hash(inlined), stored_hash(stored));
  EXPECT_EQ(stored_hash(stored), crypto::sha256(as_bytes(manifest::to_json(stored))));
}

// The time of a matrix product does not depend on the numbers in the matrices.
TEST(Work, OfAMatrixProductIsTheSameForAllMatrices) {
  const auto product = [](const std::string& b) {
    return *manifest::parse(
        R"({"weft":1,"kind":"kernel","kernel":"matmul_i8","name":"k","m":2,"n":1,"k":2,)"
        R"("a":{"value":[1,2,3,-128]},"b":{"base64":")" +
        b + R"("},"split":{"tasks":2},"budget":1})");
  };
  EXPECT_EQ(work_of(product("AQI=")), work_of(product("AgI=")));
  EXPECT_NE(stored_hash(product("AQI=")), stored_hash(product("AgI=")));
}

}  // namespace
}  // namespace weft::jobs
