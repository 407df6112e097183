// Tests of requests to ONNX models as clients send them, of refusals, and of replies.
#include "apps/coordinator/http/infer_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <random>

#include "common/base/format.h"

namespace weft::coordinator {
namespace {

using inference::OnnxInterface;
using testing::ElementsAre;
using testing::HasSubstr;

OnnxInterface interface_of(std::string_view text) {
  return inference::read_onnx_interface(text).value();
}
const OnnxInterface rows = interface_of(
    R"({"inputs":[{"name":"x","type":"f32","shape":[1,2]},{"name":"n","type":"u8","shape":[1]}],)"
    R"("outputs":[{"name":"y","type":"f32","shape":[1,2]},{"name":"z","type":"i64","shape":[1]}]})");
const OnnxInterface one = interface_of(
    R"({"inputs":[{"name":"x","type":"f32","shape":["n",2]}],"outputs":[{"name":"y","type":"f32","shape":["n"]}]})");

std::vector<float> floats(ByteSpan bytes) {
  std::vector<float> out(bytes.size() / sizeof(float));
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}
ByteVector bytes_of(std::vector<float> values) {
  const ByteSpan bytes = as_bytes(std::span<const float>(values));
  return {bytes.begin(), bytes.end()};
}

std::string refused(std::string_view body, const OnnxInterface& interface = rows) {
  const auto read = read_infer_request(body, std::nullopt, interface);
  return read ? std::string("taken") : read.error().message;
}

TEST(InferRequest, ReadsTensorsAsListsOrListsInLists) {
  for (const std::string_view data : {"[1,2,3,4.5]", "[[1,2],[3,4.5]]"}) {
    const auto read = read_infer_request(
        weft::format(
            R"({{"id":"a","inputs":[{{"name":"n","datatype":"UINT8","shape":[2],"data":[7,255]}},)"
            R"({{"name":"x","datatype":"FP32","shape":[2,2],"data":{}}}],"outputs":[{{"name":"z"}}]}})",
            data),
        std::nullopt, rows);
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_EQ(read->id, "a");
    EXPECT_EQ(read->shapes.items, 2u);
    EXPECT_THAT(floats(read->inputs.at(0)), ElementsAre(1, 2, 3, 4.5F));
    EXPECT_EQ(read->inputs.at(1), (ByteVector{7, 255}));
    ASSERT_EQ(read->outputs.size(), 1u);
    EXPECT_EQ(read->outputs.at(0).output, 1u);
  }
}

TEST(InferRequest, ReadsBytesInTheOrderOfTheRequest) {
  const std::string text =
      R"({"parameters":{"binary_data_output":true},"inputs":[)"
      R"({"name":"n","datatype":"UINT8","shape":[1],"parameters":{"binary_data_size":1}},)"
      R"({"name":"x","datatype":"FP32","shape":[1,2],"parameters":{"binary_data_size":8}}]})";
  std::string body = text + "\x05";
  body += as_text(bytes_of({3, -1}));
  const auto read = read_infer_request(body, text.size(), rows);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_THAT(floats(read->inputs.at(0)), ElementsAre(3, -1));
  EXPECT_EQ(read->inputs.at(1), ByteVector{5});
  EXPECT_TRUE(read->outputs.at(0).binary && read->outputs.at(1).binary);

  const auto message = [&](std::string_view sent, std::size_t json) {
    return read_infer_request(sent, json, rows).error().message;
  };
  EXPECT_THAT(message(body + "!", text.size()), HasSubstr("1 bytes after its JSON"));
  EXPECT_THAT(message(std::string_view(body).substr(0, body.size() - 1), text.size()),
              HasSubstr("has 8 bytes; 7 are left in the body"));
  EXPECT_THAT(message(body, body.size() + 1), HasSubstr("Inference-Header-Content-Length says"));
}

TEST(InferRequest, IsRefusedWithOneSentenceThatNamesTheTensor) {
  const std::string n = R"({"name":"n","datatype":"UINT8","shape":[1],"data":[1]})";
  const auto with = [&](std::string_view x) {
    return refused(weft::format(R"({{"inputs":[{},{}]}})", n, x));
  };
  EXPECT_THAT(refused("{"), HasSubstr("line 1"));
  EXPECT_THAT(refused("{}"), HasSubstr("inputs"));
  EXPECT_THAT(refused(weft::format(R"({{"inputs":[{}]}})", n)),
              HasSubstr("the model's input 'x' is missing"));
  EXPECT_THAT(refused(weft::format(R"({{"inputs":[{0},{0}]}})", n)),
              HasSubstr("\"n\" occurs twice"));
  EXPECT_THAT(with(R"({"name":"q","datatype":"FP32","shape":[1,2],"data":[1,2]})"),
              HasSubstr("\"q\" is not an input of the model, which has 'x', 'n'"));
  EXPECT_THAT(with(R"({"name":"x","datatype":"FP16","shape":[1,2],"data":[1,2]})"),
              HasSubstr("is \"FP16\"; the model's input 'x' is FP32"));
  EXPECT_THAT(with(R"({"name":"x","datatype":"FP32","shape":[1,3],"data":[1,2,3]})"),
              HasSubstr("The input 'x' has the shape [1,3]; the model takes [1,2]"));
  EXPECT_THAT(with(R"({"name":"x","datatype":"FP32","shape":[1,2],"data":[1]})"),
              HasSubstr("inputs[1].data: has 1 elements"));
  EXPECT_THAT(with(R"({"name":"x","datatype":"FP32","shape":[1,2],"data":[1,2,3]})"),
              HasSubstr("inputs[1].data"));
  EXPECT_THAT(with(R"({"name":"x","datatype":"FP32","shape":[1,2],"data":[[1],[2]]})"),
              HasSubstr("inputs[1].data"));
  EXPECT_THAT(with(R"({"name":"x","datatype":"FP32","shape":[1,2],"data":[1,1e39]})"),
              HasSubstr("is no FP32"));
  EXPECT_THAT(with(R"({"name":"x","datatype":"FP32","shape":[1,2],"data":[1,true]})"),
              HasSubstr("inputs[1].data[1]"));
  EXPECT_THAT(with(R"({"name":"x","datatype":"FP32","shape":[1,2]})"),
              HasSubstr("either \"data\" or the parameter"));
  EXPECT_THAT(
      with(R"({"name":"x","datatype":"FP32","shape":[1,2],"parameters":{"binary_data_size":4}})"),
      HasSubstr("has 4 bytes; FP32 of the shape [1,2] has 8"));
  const std::string x = R"({"name":"x","datatype":"FP32","shape":[1,2],"data":[1,2]})";
  EXPECT_THAT(
      refused(weft::format(
          R"({{"inputs":[{{"name":"n","datatype":"UINT8","shape":[1],"data":[256]}},{}]}})", x)),
      HasSubstr("inputs[0].data[0]"));
  EXPECT_THAT(refused(weft::format(R"({{"inputs":[{},{}],"outputs":[{{"name":"q"}}]}})", n, x)),
              HasSubstr("\"q\" is not an output of the model, which has 'y', 'z'"));
  EXPECT_THAT(
      refused(weft::format(
          R"({{"inputs":[{},{}],"outputs":[{{"name":"y","parameters":{{"classification":2}}}}]}})",
          n, x)),
      HasSubstr("is not possible here"));
}

TEST(InferRequest, AnswersInJsonOrBytes) {
  const std::string inputs =
      R"("inputs":[{"name":"x","datatype":"FP32","shape":[2,2],"data":[1,2,3,4]},{"name":"n","datatype":"UINT8","shape":[2],"data":[1,2]}])";
  auto read = read_infer_request("{" + inputs + "}", std::nullopt, rows);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  const ByteVector numbers = {1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF};
  const InferResult result{
      .outputs = {bytes_of({0.5F, 1, -2, 3e-7F}), from_job(numbers, tensor_type("i64"))},
      .job = "J",
      .price = 250};
  const auto text = write_infer_reply("m", *read, rows, result);
  ASSERT_TRUE(text.has_value()) << text.error().message;
  EXPECT_EQ(
      text->body,
      R"({"model_name":"m","model_version":"1","parameters":{"job":"J","price":0.000250},"outputs":[)"
      R"({"name":"y","datatype":"FP32","shape":[2,2],"data":[0.5,1,-2,3e-07]},)"
      R"({"name":"z","datatype":"INT64","shape":[2],"data":[1,-1]}]})");
  EXPECT_EQ(text->headers.at("content-type"), "application/json");

  read->outputs.front().binary = true;
  const auto mixed = write_infer_reply("m", *read, rows, result);
  ASSERT_TRUE(mixed.has_value()) << mixed.error().message;
  const std::size_t length = std::stoul(mixed->headers.at("inference-header-content-length"));
  EXPECT_THAT(floats(as_bytes(std::string_view(mixed->body).substr(length))),
              ElementsAre(0.5F, 1, -2, 3e-7F));
  EXPECT_THAT(mixed->body.substr(0, length), HasSubstr(R"("binary_data_size":16)"));

  read->outputs.front().binary = false;
  InferResult odd = result;
  odd.outputs.front() = bytes_of({1, 2, std::numeric_limits<float>::quiet_NaN(), 4});
  EXPECT_THAT(write_infer_reply("m", *read, rows, odd).error().message,
              HasSubstr("'y' has the value nan, which JSON cannot say"));
}

TEST(InferRequest, ReadsTensorFlowServingsRowsAndColumns) {
  const auto read = [](std::string_view body, const OnnxInterface& interface) {
    return read_predict_request(body, interface);
  };
  const auto plain = read(R"({"instances":[[1,2],[3,4],[5,6]]})", one);
  ASSERT_TRUE(plain.has_value()) << plain.error().message;
  EXPECT_THAT(floats(plain->inputs.at(0)), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(
      write_infer_reply("m", *plain, one, {.outputs = {bytes_of({7, 8, 9})}, .job = {}})->body,
      R"({"predictions":[7,8,9]})");

  const auto columns = read(R"({"signature_name":"serving_default","inputs":{"x":[[1,2]]}})", one);
  ASSERT_TRUE(columns.has_value()) << columns.error().message;
  EXPECT_EQ(write_infer_reply("m", *columns, one, {.outputs = {bytes_of({7})}, .job = {}})->body,
            R"({"outputs":[7]})");

  const auto named = read(R"({"instances":[{"x":[1,2],"n":3},{"n":4,"x":[5,6]}]})", rows);
  ASSERT_TRUE(named.has_value()) << named.error().message;
  EXPECT_THAT(floats(named->inputs.at(0)), ElementsAre(1, 2, 5, 6));
  EXPECT_EQ(named->inputs.at(1), (ByteVector{3, 4}));
  EXPECT_EQ(write_infer_reply("m", *named, rows,
                              {.outputs = {bytes_of({1, 2, 3, 4}), ByteVector(16, 0)}, .job = {}})
                ->body,
            R"({"predictions":[{"y":[1,2],"z":0},{"y":[3,4],"z":0}]})");

  const auto refusal = [&](std::string_view body, const OnnxInterface& interface) {
    const auto taken = read(body, interface);
    return taken ? std::string("taken") : taken.error().message;
  };
  EXPECT_THAT(refusal("{}", one), HasSubstr("either \"instances\" or \"inputs\""));
  EXPECT_THAT(refusal(R"({"instances":[]})", one), HasSubstr("must not be empty"));
  EXPECT_THAT(refusal(R"({"instances":[[1,2],[3]]})", one), HasSubstr("has 1 elements"));
  EXPECT_THAT(refusal(R"({"instances":[[1,2],{"x":[1,2]}]})", one), HasSubstr("a kind other than"));
  EXPECT_THAT(refusal(R"({"instances":[[1,2]]})", rows), HasSubstr("'x', 'n'"));
  EXPECT_THAT(refusal(R"({"instances":[{"x":[1,2]}]})", rows), HasSubstr("'x', 'n'"));
  EXPECT_THAT(refusal(R"({"signature_name":"other","instances":[[1,2]]})", one),
              HasSubstr("\"serving_default\""));
}

TEST(InferRequest, IntegersAreThoseOfJobs) {
  const ByteVector far = {0, 0, 0, 0, 1, 0, 0, 0};
  EXPECT_THAT(to_job(far, tensor_type("i64"), "x").error().message,
              HasSubstr("The input 'x' has the value 4294967296"));
  EXPECT_EQ(to_job({0xFE, 0xFF}, tensor_type("i16"), "x").value(),
            (ByteVector{0xFE, 0xFF, 0xFF, 0xFF}));
  EXPECT_EQ(to_job({0, 9}, tensor_type("bool"), "x").value(), (ByteVector{0, 0, 0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(from_job({200, 0, 0, 0}, tensor_type("u8")), ByteVector{200});
}

TEST(InferRequest, SurvivesNonsense) {
  std::mt19937 random(1);
  const std::string good =
      R"({"id":"a","parameters":{},"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[[1,2]]},{"name":"n","datatype":"UINT8","shape":[1],"parameters":{"binary_data_size":1}}],"outputs":[{"name":"y"}]}!)";
  for (int i = 0; i < 20000; ++i) {
    std::string bad = good;
    for (int edits = 1 + static_cast<int>(random() % 3); edits > 0; --edits) {
      const std::size_t at = random() % bad.size();
      if (random() % 2 == 0)
        bad[at] = static_cast<char>(random());
      else
        bad.erase(at, 1 + random() % 4);
      if (bad.empty()) bad = "{";
    }
    (void)read_infer_request(bad, bad.size() - std::min<std::size_t>(1, bad.size()), rows);
    (void)read_predict_request(bad, rows);
  }
}

TEST(InferRequest, SaysWhatAModelTakes) {
  EXPECT_EQ(
      protocol_metadata("m", one),
      R"({"name":"m","versions":["1"],"platform":"onnx","inputs":[{"name":"x","datatype":"FP32","shape":[-1,2]}],"outputs":[{"name":"y","datatype":"FP32","shape":[-1]}]})");
  EXPECT_THAT(
      serving_metadata("m", one),
      HasSubstr(
          R"("x":{"dtype":"DT_FLOAT","tensor_shape":{"dim":[{"size":"-1","name":"n"},{"size":"2","name":""}])"));
}

}  // namespace
}  // namespace weft::coordinator
