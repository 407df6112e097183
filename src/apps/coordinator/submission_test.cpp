// Tests of a manifest before the core gets it: its data become blobs, its shader must compile, and
// errors name their place.
#include "apps/coordinator/ingest/submission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/coordinator/test_network.h"

namespace weft::coordinator {
namespace {

using testing::HasSubstr;

class SubmissionTest : public testing::Test {
 protected:
  std::expected<jobs::Submission, Complaint> read(std::string_view text,
                                                  const ShaderChecker& checker = {},
                                                  const SubmissionBounds& bounds = {},
                                                  const FundsCheck& funds = {}) {
    return read_submission({.client = {}, .nonce = {}}, text, *blobs_, checker, bounds, {}, funds);
  }

  static constexpr std::string_view with_input =
      R"({"weft":1,"kind":"wgsl","name":"sum","shader":{"inline":"fn main() {}"},"entry":"main","bindings":[
         {"binding":0,"role":"input","type":"u32","shape":[3],"value":[1,2,3]},{"binding":1,"role":"output","type":"u32","shape":[3]}],
         "dispatch":[1,1,1],"verify":{"compare":"exact","replicas":1},"budget":1})";

  TestFolder folder_;
  std::unique_ptr<store::Blobs> blobs_ = store::Blobs::open(folder_.path(), {}).value();
};

TEST_F(SubmissionTest, InlineDataBecomeBlobsAndTheManifestIsOneItself) {
  const auto submission = read(with_input);

  ASSERT_TRUE(submission.has_value()) << submission.error().error.message;
  const auto* input = std::get_if<manifest::Blob>(&submission->manifest->bindings.at(0).data);
  ASSERT_NE(input, nullptr);
  ByteVector expected;
  for (const std::uint32_t value : {1U, 2U, 3U}) append_le(expected, value);
  EXPECT_EQ(blobs_->read(input->hash).value(), expected);
  EXPECT_EQ(as_text(blobs_->read(submission->manifest_hash).value()), submission->manifest_text);
  EXPECT_EQ(manifest::parse(submission->manifest_text).value(), *submission->manifest);
}

TEST_F(SubmissionTest, AShaderThatDoesNotCompileIsRefusedWithLineAndColumn) {
  std::string checked;
  const auto refused = read(with_input,
                            [&](const manifest::Manifest&, std::string_view shader,
                                const ShaderAsker&) -> Result<std::vector<ShaderComplaint>> {
                              checked = shader;
                              return std::vector<ShaderComplaint>{
                                  {.line = 3, .column = 16, .message = "cannot convert value"}};
                            });

  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(checked, "fn main() {}");
  EXPECT_EQ(refused.error().error.message, "shader:3:16: cannot convert value");
  EXPECT_EQ(refused.error().shader->line, 3U);
}

TEST_F(SubmissionTest, AComplaintWithoutAPlaceNamesNone) {
  const auto refused =
      read(with_input,
           [&](const manifest::Manifest&, std::string_view,
               const ShaderAsker&) -> Result<std::vector<ShaderComplaint>> {
             return std::vector<ShaderComplaint>{{.message = "There is no entry point."}};
           });

  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().error.message, "shader: There is no entry point.");
  EXPECT_FALSE(refused.error().shader.has_value());
}

// The attack: a wallet without credits submits a shader that compiles for minutes.
TEST_F(SubmissionTest, FundsAreLookedAtBeforeTheShaderIsCompiled) {
  int checked = 0;
  const ShaderChecker checker = [&](const manifest::Manifest&, std::string_view,
                                    const ShaderAsker&) -> Result<std::vector<ShaderComplaint>> {
    ++checked;
    return std::vector<ShaderComplaint>{};
  };
  const auto broke = read(with_input, checker, {}, [](const manifest::Manifest&) -> Result<> {
    return fail(ErrorCode::insufficient_funds, "No credits.");
  });

  ASSERT_FALSE(broke.has_value());
  EXPECT_EQ(broke.error().error.code, ErrorCode::insufficient_funds);
  EXPECT_EQ(checked, 0);
  EXPECT_EQ(blobs_->count(), 0U) << "and nothing is stored";
  EXPECT_TRUE(read(with_input, checker).has_value());
  EXPECT_EQ(checked, 1) << "the attack: without a look at funds it is compiled";
}

TEST_F(SubmissionTest, AShaderThatTakesTooLongIsRefused) {
  const auto refused = read(with_input,
                            [](const manifest::Manifest&, std::string_view,
                               const ShaderAsker&) -> Result<std::vector<ShaderComplaint>> {
                              return fail(ErrorCode::deadline_exceeded, "It takes too long.");
                            });

  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().error.code, ErrorCode::deadline_exceeded);
}

TEST_F(SubmissionTest, AMatrixThatWouldFillTheMemoryIsRefused) {
  constexpr std::string_view product =
      R"({"weft":1,"kind":"kernel","name":"p","kernel":"matmul_i8","m":2,"n":2,"k":2,"a":{"value":[1,2,3,4]},
         "b":{"value":[1,0,0,1]},"split":{"tasks":1},"verify":{"compare":"exact","replicas":1},"budget":1})";
  const auto refused = read(product, {}, {.operand_bytes_max = 3});

  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().error.message, HasSubstr("has 4 bytes; at most 3 are taken"));
  EXPECT_TRUE(read(product, {}, {.operand_bytes_max = 4}).has_value());
}

constexpr std::string_view with_model =
    R"({"weft":1,"kind":"onnx","name":"m","items":1,"model":{"bytes":4,"base64":"AQIDBA=="},
       "inputs":[{"name":"x","type":"i32","shape":[1],"value":[1]}],"outputs":[{"name":"y","type":"i32","shape":[1]}],"budget":1})";

TEST_F(SubmissionTest, AModelThatWouldFillTheMemoryIsRefusedBeforeItIsChecked) {
  bool checked = false;
  const ShaderChecker checker = [&](const manifest::Manifest&, std::string_view,
                                    const ShaderAsker&) -> Result<std::vector<ShaderComplaint>> {
    checked = true;
    return std::vector<ShaderComplaint>{};
  };
  const auto refused = read(with_model, checker, {.model_bytes_max = 3});

  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().error.message, "The model has 4 bytes; at most 3 are taken.");
  EXPECT_FALSE(checked);
  EXPECT_TRUE(read(with_model, checker, {.model_bytes_max = 4}).has_value());
  EXPECT_TRUE(checked);
}

TEST_F(SubmissionTest, AModelIsCheckedByItsBytesAndRefusedByName) {
  ByteVector given;
  const auto refused =
      read(with_model,
           [&](const manifest::Manifest&, std::string_view model,
               const ShaderAsker&) -> Result<std::vector<ShaderComplaint>> {
             given.assign(model.begin(), model.end());
             return std::vector<ShaderComplaint>{{.message = "It is not a model."}};
           });

  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(given, (ByteVector{1, 2, 3, 4}));
  EXPECT_EQ(refused.error().error.message, "model: It is not a model.");
}

// A machine without a device cannot check shaders, so that workers would be the first to compile
// what strangers send.
TEST_F(SubmissionTest, WhatNothingHasCheckedIsTakenOnlyIfTheOperatorSaysSo) {
  const ShaderChecker without_device =
      [](const manifest::Manifest&, std::string_view,
         const ShaderAsker&) -> Result<std::vector<ShaderComplaint>> {
    return fail(ErrorCode::unavailable, "There is no GPU here.");
  };

  for (const std::string_view text : {with_input, with_model}) {
    const auto refused = read(text, without_device);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().error.code, ErrorCode::unsupported);
    EXPECT_THAT(refused.error().error.message,
                AllOf(HasSubstr("There is no GPU here."), HasSubstr("--unchecked-shaders")));
    EXPECT_TRUE(read(text, without_device, {.unchecked_shaders = true}).has_value())
        << "the attack";
  }
}

TEST_F(SubmissionTest, ResultsThatAnyWorkersDecideAreTakenWhereTheOperatorAllowsThem) {
  std::string text(with_input);
  const std::string_view replicas = R"("replicas":1)";
  text.insert(text.find(replicas) + replicas.size(), R"(,"trust":"anyone")");

  EXPECT_TRUE(read(text).has_value());
  const auto refused = read(text, {}, {.anyone = false});

  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().error.code, ErrorCode::permission_denied);
  EXPECT_THAT(refused.error().error.message, HasSubstr("--allow-anyone"));
}

TEST_F(SubmissionTest, FilesOfTheClientsMachineAreNotRead) {
  std::string text(with_input);
  text.replace(text.find(R"("value":[1,2,3])"), 15, R"("path":"/etc/passwd")");

  const auto refused = read(text);

  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().error.message, HasSubstr("bindings[0].path"));
}

TEST_F(SubmissionTest, ABlobOfAnotherLengthIsRefused) {
  const Hash hash = blobs_->put(as_bytes("too short")).value();
  std::string text(with_input);
  text.replace(text.find(R"("value":[1,2,3])"), 15, R"("blob":")" + hash.text() + '"');

  const auto refused = read(text);

  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().error.message, HasSubstr("has 9 bytes; the shape asks for 12"));
}

TEST_F(SubmissionTest, BoundsNameTheOptionThatRaisesThem) {
  const auto inputs = read(with_input, {}, {.input_bytes_max = 8});
  const auto outputs = read(with_input, {}, {.output_bytes_max = 8});

  ASSERT_FALSE(inputs.has_value() || outputs.has_value());
  EXPECT_THAT(inputs.error().error.message, HasSubstr("--job-input-bytes-max"));
  EXPECT_THAT(outputs.error().error.message, HasSubstr("--job-output-bytes-max"));
}

}  // namespace
}  // namespace weft::coordinator
