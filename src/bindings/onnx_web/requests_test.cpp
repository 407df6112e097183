// A page's request is read completely, or it is refused with the place of the mistake.
#include "bindings/onnx_web/requests.h"

#include <gtest/gtest.h>

namespace weft::onnx_web {
namespace {

onnx::Graph two_inputs() {
  onnx::Graph graph;
  graph.inputs = {{.name = "x",
                   .type = onnx::ElementType::f32,
                   .shape = std::vector<onnx::Dimension>{{.size = 2, .symbol = {}}}},
                  {.name = "flags",
                   .type = onnx::ElementType::boolean,
                   .shape = std::vector<onnx::Dimension>{{.size = {}, .symbol = "n"}}}};
  return graph;
}
const ByteVector data = {0, 0, 128, 63, 0, 0, 0, 64, 1, 7, 0};

std::string refused(std::string_view json) {
  const auto request = parse_run(json, data, two_inputs());
  return request ? "" : request.error().message;
}

TEST(OnnxWebRequests, TakeInputsInTheOrderOfTheGraph) {
  const auto request = parse_run(
      R"([{"name":"flags","shape":[3],"offset":8,"bytes":3},{"name":"x","offset":0,"bytes":8}])",
      data, two_inputs());

  ASSERT_TRUE(request.has_value()) << request.error().message;
  EXPECT_EQ(request->inputs[0].values<float>()[0], 1.0f);
  EXPECT_EQ(request->inputs[0].values<float>()[1], 2.0f);
  EXPECT_EQ(ByteVector(request->inputs[1].bytes().begin(), request->inputs[1].bytes().end()),
            (ByteVector{1, 1, 0}));
  EXPECT_EQ(request->on_gpu, (std::vector<bool>{false, false}));
}

TEST(OnnxWebRequests, AnInputOnTheGpuHasNoBytes) {
  const auto request =
      parse_run(R"([{"name":"x","gpu":true},{"name":"flags","shape":[3],"offset":8,"bytes":3}])",
                data, two_inputs());

  ASSERT_TRUE(request.has_value()) << request.error().message;
  EXPECT_FALSE(request->inputs[0].has_bytes());
  EXPECT_EQ(request->on_gpu, (std::vector<bool>{true, false}));
}

TEST(OnnxWebRequests, RefuseWhatDoesNotFit) {
  EXPECT_EQ(refused("[]"), "The input 'x' is missing.");
  EXPECT_NE(refused(R"([{"name":"z"}])").find("the model has no input 'z'"), std::string::npos);
  EXPECT_NE(refused(R"([{"name":"x","bytes":8},{"name":"x","bytes":8}])").find("given twice"),
            std::string::npos);
  // Ranges that end past the data. The sum of offset and bytes of one range is larger than 2^53.
  for (const std::string_view range :
       {R"("offset":4,"bytes":8)", R"("offset":9007199254740991,"bytes":9007199254740991)",
        R"("offset":12,"bytes":0)"})
    EXPECT_EQ(refused(weft::format(R"([{{"name":"x",{}}}])", range)),
              "The data ends before the bytes of the input 'x'.");
  EXPECT_NE(refused(R"([{"name":"x","bytes":4}])"), "");  // The input has 8 bytes.
  EXPECT_EQ(refused(R"([{"name":"flags","bytes":3}])"),
            "The model does not give the shape of the input 'flags'; the request must give one.");
  EXPECT_NE(refused(R"([{"name":"flags","shape":[9007199254740991,9007199254740991]}])"), "");
  EXPECT_NE(refused(R"([{"name":"flags","shape":[-1]}])"), "");
}

TEST(OnnxWebRequests, ReadOptions) {
  const auto open = parse_open(R"({"device":"cpu","sizes":{"batch":4}})");
  ASSERT_TRUE(open.has_value()) << open.error().message;
  EXPECT_EQ(open->device, DeviceChoice::cpu);
  EXPECT_EQ(open->sizes, (std::vector<std::pair<std::string, std::int64_t>>{{"batch", 4}}));
  EXPECT_FALSE(parse_open(R"({"device":"npu"})"));
  EXPECT_FALSE(parse_open(R"({"sizes":{"batch":0}})"));
  EXPECT_FALSE(parse_open(R"({"speed":1})"));

  const auto boxes = parse_boxes(R"({"left":3,"scaleX":0.5,"scoreMin":0.75})");
  ASSERT_TRUE(boxes.has_value()) << boxes.error().message;
  EXPECT_EQ(boxes->placement.left, 3);
  EXPECT_EQ(boxes->placement.scale_x, 0.5);
  EXPECT_EQ(boxes->placement.scale_y, 1);
  EXPECT_EQ(boxes->bounds.score_min, 0.75);
  EXPECT_FALSE(parse_boxes(R"({"scaleX":0})"));
}

}  // namespace
}  // namespace weft::onnx_web
