// The models of data/models, each with an image as a tensor and the results that onnxruntime
// computed for every node.
#pragma once

#include <png.h>

#include <glaze/glaze.hpp>

#include "engine/onnx/operators/test_cases.h"

namespace weft::onnx::test {

struct ExpectedNode {
  std::string output;
  std::string op;
  std::string dtype;
  std::vector<std::int64_t> shape;
  double mean = 0;
  double absmax = 0;
  double l2 = 0;
  std::vector<double> samples;  // Elements 0, s, 2s, ... with s = max(1, n / 16).
};
struct ExpectedOutput {
  std::string name;
  std::vector<std::int64_t> shape;
  std::string file;
};
struct ModelJob {
  std::string name;
  std::string model;
  std::string channels;
  std::vector<std::int64_t> size;
  std::vector<double> mean;
  std::vector<double> scale;
  std::vector<ExpectedOutput> outputs;
  std::vector<ExpectedNode> nodes;
};

inline std::optional<ModelJob> read_job(const std::filesystem::path& path) {
  ModelJob job;
  const std::string text = read_bytes(path);
  if (glz::read<glz::opts{.error_on_unknown_keys = false}>(job, text)) return std::nullopt;
  return job;
}

// Returns the picture of a file as a tensor (pixel - mean) * scale of shape [1][channel][y][x].
inline Tensor picture_tensor(const ModelJob& job, const std::filesystem::path& png) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  check(png_image_begin_read_from_file(&image, png.c_str()) != 0, "the picture is a PNG file");
  const bool grey = job.channels == "Y";
  image.format = grey ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  std::vector<std::uint8_t> pixels(PNG_IMAGE_SIZE(image));
  check(png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr) != 0, "it can be read");
  const std::size_t channels = grey ? 1 : 3, plane = std::size_t{image.width} * image.height;
  std::vector<float> values(plane * channels);
  for (std::size_t c = 0; c < channels; ++c) {
    const std::size_t from = job.channels == "BGR" ? 2 - c : c;
    const auto mean = static_cast<float>(job.mean[job.mean.size() == 1 ? 0 : c]);
    const auto scale = static_cast<float>(job.scale[job.scale.size() == 1 ? 0 : c]);
    for (std::size_t i = 0; i < plane; ++i)
      values[c * plane + i] = (static_cast<float>(pixels[i * channels + from]) - mean) * scale;
  }
  return Tensor::of<float>(
      {1, static_cast<std::int64_t>(channels), static_cast<std::int64_t>(image.height),
       static_cast<std::int64_t>(image.width)},
      values);
}

// Describes the difference between a node's output and the output that onnxruntime computed.
// Returns an empty text if the shape is equal and the samples and the norm agree within `relative`
// of the largest magnitude, because sums in another order differ by that much.
inline std::string node_difference(const Tensor& got, const ExpectedNode& expected,
                                   double relative) {
  if (got.shape() != expected.shape)
    return "is of shape " + to_string(got.shape()) + ", not " + to_string(expected.shape);
  const std::int64_t n = got.count(), step = std::max<std::int64_t>(1, n / 16);
  for (std::size_t i = 0; i < expected.samples.size(); ++i) {
    const double value = got.number(static_cast<std::int64_t>(i) * step);
    if (std::abs(value - expected.samples[i]) > relative * std::max(expected.absmax, 1e-6))
      return weft::format("element {} is {}, not {}", i * static_cast<std::size_t>(step), value,
                          expected.samples[i]);
  }
  double squares = 0;
  for (std::int64_t i = 0; i < n; ++i) squares += got.number(i) * got.number(i);
  if (std::abs(std::sqrt(squares) - expected.l2) > relative * std::max(expected.l2, 1e-6))
    return weft::format("has the length {}, not {}", std::sqrt(squares), expected.l2);
  return {};
}

}  // namespace weft::onnx::test
