// A small onnx job that computes y = relu(x * w) and the index of the largest element of y.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "common/base/format.h"
#include "engine/exec/executor.h"
#include "engine/onnx/write_model.h"

namespace weft::onnx::test {

// Has the input x: f32 [1, 4], and the outputs y: f32 [1, 4] and best: i64 [1].
inline Model small_model() {
  const std::vector<float> w = {1, -2, 3, 0.5F};
  const auto value = [](std::string name, ElementType type, std::vector<std::int64_t> shape) {
    ValueInfo info{.name = std::move(name), .type = type, .shape = std::vector<Dimension>()};
    for (const std::int64_t size : shape) info.shape->push_back({.size = size, .symbol = {}});
    return info;
  };
  Model model;
  model.ir_version = 8;
  model.opset = 17;
  model.initializers.emplace_back("w", Tensor::of<float>({4}, w));
  model.nodes = {{.name = "product",
                  .op = "Mul",
                  .domain = {},
                  .inputs = {"x", "w"},
                  .outputs = {"t"},
                  .attributes = {}},
                 {.name = "relu",
                  .op = "Relu",
                  .domain = {},
                  .inputs = {"t"},
                  .outputs = {"y"},
                  .attributes = {}},
                 {.name = "argmax",
                  .op = "ArgMax",
                  .domain = {},
                  .inputs = {"y"},
                  .outputs = {"best"},
                  .attributes = {{"axis", std::int64_t{1}}, {"keepdims", std::int64_t{0}}}}};
  model.inputs = {value("x", ElementType::f32, {1, 4})};
  model.outputs = {value("y", ElementType::f32, {1, 4}), value("best", ElementType::i64, {1})};
  return model;
}

// A model with the inputs and outputs of small_model() whose intermediate values take 16 KiB and
// more.
inline Model wide_model() {
  Model model = small_model();
  const std::vector<std::int64_t> shape = {1024, 4};
  const std::vector<std::int64_t> axes = {0};
  model.initializers.emplace_back("shape", Tensor::of<std::int64_t>({2}, shape));
  model.initializers.emplace_back("axes", Tensor::of<std::int64_t>({1}, axes));
  ModelNode expand = model.nodes.at(0), softmax = expand, sum = expand;
  expand.op = "Expand", expand.inputs = {"x", "shape"}, expand.outputs = {"wide"};
  softmax.op = "Softmax", softmax.inputs = {"wide"}, softmax.outputs = {"soft"};
  sum.op = "ReduceSum", sum.inputs = {"soft", "axes"}, sum.outputs = {"x2"};
  model.nodes.at(0).inputs = {"x2", "w"};
  model.nodes.insert(model.nodes.begin(), {expand, softmax, sum});
  return model;
}

// The manifest of a job that runs `model` for `items` items; item i has x = {i, i - 3, 1, 2}.
inline std::string small_manifest(std::uint32_t items, std::uint32_t tasks = 1,
                                  const Model& model = small_model()) {
  const auto file = write_model(model);
  std::string x;
  for (std::uint32_t i = 0; i < items; ++i)
    x += weft::format("{}{},{},1,2", i == 0 ? "" : ",", i, static_cast<int>(i) - 3);
  return weft::format(R"({{"weft":1,"kind":"onnx","name":"small","items":{0},)"
                      R"("model":{{"bytes":{1},"base64":"{2}"}},)"
                      R"("inputs":[{{"name":"x","type":"f32","shape":[{0},4],"value":[{3}]}}],)"
                      R"("outputs":[{{"name":"best","type":"i32","shape":[{0}]}},)"
                      R"({{"name":"y","type":"f32","shape":[{0},4]}}],)"
                      R"("split":{{"tasks":{4}}},"verify":{{"compare":{{"absolute":1e-5}}}}}})",
                      items, file->size(), to_base64(*file), x, tasks);
}

inline std::shared_ptr<exec::Job> job_of(const std::string& text) {
  auto parsed = manifest::parse(text);
  if (!parsed) {
    ADD_FAILURE() << parsed.error().message;
    return nullptr;
  }
  auto job = std::make_shared<exec::Job>();
  job->manifest = std::move(*parsed);
  for (const manifest::Binding& binding : job->manifest.bindings) {
    const auto* given = std::get_if<manifest::Inline>(&binding.data);
    job->data.push_back(given != nullptr ? given->bytes : ByteVector());
  }
  return job;
}

inline std::string replaced(std::string text, std::string_view what, std::string_view with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

}  // namespace weft::onnx::test
