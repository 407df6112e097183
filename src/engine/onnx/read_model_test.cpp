// Tests that files become models or give an error of one sentence, and that tensors keep every bit
// in .pb and .npy files.
#include "engine/onnx/read_model.h"

#include <gtest/gtest.h>

#include <protozero/pbf_writer.hpp>

#include "common/base/test_data.h"
#include "engine/onnx/model_file.h"
#include "engine/onnx/numpy_file.h"

namespace weft::onnx {
namespace {

std::filesystem::path case_file(std::string_view name) {
  return std::filesystem::path(WEFT_SOURCE_DIR) / "src/engine/onnx/testdata/cases" / name;
}

// A model with one Identity node of `opset`, and an initialiser from `tensor`.
std::string small_model(std::int64_t opset, const std::string& tensor = {}) {
  std::string bytes;
  protozero::pbf_writer model(bytes);
  model.add_int64(1, 8);
  {
    protozero::pbf_writer graph(model, 7);
    {
      protozero::pbf_writer node(graph, 1);
      node.add_string(1, "x");
      node.add_string(2, "y");
      node.add_string(4, "Identity");
    }
    if (!tensor.empty()) graph.add_message(5, tensor);
  }
  {
    protozero::pbf_writer imported(model, 8);
    imported.add_int64(2, opset);
  }
  return bytes;
}
std::string external_tensor(std::string_view location, std::string_view offset) {
  std::string bytes;
  protozero::pbf_writer tensor(bytes);
  tensor.add_int64(1, 2);
  tensor.add_int32(2, 1);
  tensor.add_string(8, "x");
  for (const auto& [key, value] : {std::pair("location", location), {"offset", offset}}) {
    protozero::pbf_writer entry(tensor, 13);
    entry.add_string(1, key);
    entry.add_string(2, std::string(value));
  }
  tensor.add_int32(14, 1);
  return bytes;
}

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "weft-onnx-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  Folder(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  std::filesystem::path write(std::string_view name, std::string_view bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return path_ / name;
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

TEST(ReadModel, ReadsNodesTypesAndShapes) {
  const auto model = open_model_file(case_file("test_batchnorm_epsilon/model.onnx"));

  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ(model->opset, 15);
  ASSERT_EQ(model->nodes.size(), 1u);
  EXPECT_EQ(model->nodes[0].op, "BatchNormalization");
  EXPECT_EQ(std::get<float>(model->nodes[0].attributes.at("epsilon")), 0.01f);
  ASSERT_EQ(model->inputs.size(), 5u);
  EXPECT_EQ(model->inputs[0].shape->at(1).size, 3);
}

TEST(ReadModel, AcceptsOpset1And7To27Only) {
  for (const std::int64_t opset : {1, 7, 13, 27})
    EXPECT_TRUE(read_model(weft::as_bytes(small_model(opset))).has_value()) << opset;
  for (const std::int64_t opset : {2, 6, 28}) {
    const auto model = read_model(weft::as_bytes(small_model(opset)));
    ASSERT_FALSE(model.has_value()) << opset;
    EXPECT_EQ(model.error().message,
              weft::format("The model is of opset {}; opset 1 and 7 to 27 are supported.", opset));
  }
}

TEST(ReadModel, SaysThatBytesAreNotAModel) {
  EXPECT_EQ(read_model({}).error().message, "The bytes are not an ONNX model: there is no graph.");
  const std::string whole = small_model(17);
  for (std::size_t length = 1; length < whole.size(); ++length) {
    const auto model = read_model(weft::as_bytes(std::string_view(whole).substr(0, length)));
    if (!model) {
      EXPECT_TRUE(model.error().message.ends_with('.')) << model.error().message;
    }
  }
  // The graph is written as a number, which is not the wire type of the format.
  const std::string wrong = {0x38, 0x01};
  EXPECT_TRUE(read_model(weft::as_bytes(wrong)).error().message.contains("malformed"));
}

TEST(ReadModel, HoldsNodesToTheirBound) {
  const auto model = read_model(weft::as_bytes(small_model(17)), {}, {.nodes_max = 0});

  ASSERT_FALSE(model.has_value());
  EXPECT_EQ(model.error().code, ErrorCode::resource_exhausted);
}

TEST(ExternalData, IsReadFromTheModelsFolder) {
  const Folder folder;
  const float values[] = {0, 0, 1.5f, -2};
  folder.write("weights.bin", weft::as_text(weft::as_bytes(std::span<const float>(values))));
  const auto path = folder.write("m.onnx", small_model(17, external_tensor("weights.bin", "8")));

  const auto model = open_model_file(path);

  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ(model->initializers[0].second.values<float>()[0], 1.5f);
  EXPECT_EQ(model->initializers[0].second.values<float>()[1], -2.0f);
}

TEST(ExternalData, IsNeverReadFromElsewhere) {
  const Folder folder, other;
  const auto secret = other.write("secret.bin", "12345678");
  std::filesystem::create_symlink(secret, folder.path() / "link.bin");
  for (const std::string& location :
       {secret.string(), "../" + other.path().filename().string() + "/secret.bin",
        std::string("link.bin")}) {
    const auto path = folder.write("m.onnx", small_model(17, external_tensor(location, "0")));
    const auto model = open_model_file(path);
    ASSERT_FALSE(model.has_value()) << location;
    EXPECT_EQ(model.error().code, ErrorCode::permission_denied) << model.error().message;
  }
}

TEST(ExternalData, LiesInsideItsFile) {
  const Folder folder;
  folder.write("weights.bin", "1234567");
  for (const std::string_view offset : {"0", "18446744073709551615"}) {
    const auto path =
        folder.write("m.onnx", small_model(17, external_tensor("weights.bin", offset)));
    const auto model = open_model_file(path);
    ASSERT_FALSE(model.has_value());
    EXPECT_TRUE(model.error().message.contains("lies past the end")) << model.error().message;
  }
}

TEST(TensorFiles, KeepEveryElementType) {
  for (const ElementType type :
       {ElementType::f32, ElementType::u8, ElementType::i8, ElementType::u16, ElementType::i16,
        ElementType::i32, ElementType::i64, ElementType::boolean, ElementType::f16,
        ElementType::u32}) {
    Tensor tensor = Tensor::create(type, {2, 3}).value();
    for (std::uint8_t i = 0; std::uint8_t& byte : tensor.mutable_bytes())
      byte = static_cast<std::uint8_t>(type == ElementType::boolean ? i++ % 2 : i++);

    const auto serialised = read_tensor(write_tensor("t", tensor));
    const auto numpy = read_npy(write_npy(tensor));

    ASSERT_TRUE(serialised.has_value()) << serialised.error().message;
    ASSERT_TRUE(numpy.has_value()) << numpy.error().message;
    for (const Tensor& back : {serialised->tensor, *numpy}) {
      EXPECT_EQ(back.type(), type);
      EXPECT_EQ(back.shape(), tensor.shape());
      EXPECT_TRUE(std::ranges::equal(back.bytes(), tensor.bytes())) << to_string(type);
    }
  }
}

TEST(TensorFiles, RefuseWhatDoesNotFitItsShape) {
  ByteVector bytes = write_npy(Tensor::create(ElementType::f32, {2}).value());
  bytes.pop_back();
  EXPECT_EQ(read_npy(bytes).error().message,
            "A tensor of shape [2] and type f32 takes 8 bytes; 7 are given.");
  EXPECT_EQ(Tensor::create(ElementType::f32, {1 << 20, 1 << 20}).error().code,
            ErrorCode::resource_exhausted);
  EXPECT_EQ(Tensor::create(ElementType::f32, {-1}).error().message,
            "The shape [-1] has a negative size.");
  EXPECT_TRUE(Tensor::create(ElementType::f32, {0, std::int64_t{1} << 62}).has_value());
}

}  // namespace
}  // namespace weft::onnx
