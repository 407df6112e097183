// Tests that a picture fitted on the GPU equals the picture fitted by plain loops.
#include "engine/onnx/vision/gpu/picture_kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "engine/gpu/native/instance.h"
#include "engine/gpu/run.h"

namespace weft::onnx {
namespace {

struct Machine {
  std::unique_ptr<gpu::PumpedInstance> instance = gpu::native::create_instance();
  std::unique_ptr<gpu::Device> device;
};
Machine& machine() {
  static Machine shared = [] {
    Machine made;
    auto device = gpu::run(*made.instance, made.instance->create_device({.label = "vision"}));
    if (device) made.device = std::move(*device);
    return made;
  }();
  return shared;
}

Picture noise(std::int64_t width, std::int64_t height) {
  std::mt19937 random(7);
  Picture out{.width = width, .height = height, .pixels = {}};
  out.pixels.resize(static_cast<std::size_t>(width * height * 3));
  for (std::uint8_t& level : out.pixels) level = static_cast<std::uint8_t>(random());
  return out;
}

Async<Result<std::vector<float>>> fitted_there(gpu::Device& device, const Picture& picture,
                                               PictureKernel::Geometry geometry) {
  WEFT_CO_ASSIGN(const auto kernel, co_await PictureKernel::create(device));
  WEFT_CO_ASSIGN(const auto bound, kernel->bind(geometry));
  ByteVector bytes(static_cast<std::size_t>(bound->picture().size()), 0xAB);
  for (std::int64_t y = 0; y < (geometry.packed ? 0 : picture.height); ++y)
    for (std::int64_t x = 0; x < picture.width; ++x)
      for (std::int64_t c = 0; c < 3; ++c)
        bytes[static_cast<std::size_t>(y * static_cast<std::int64_t>(bound->bytes_per_row()) +
                                       x * 4 + c)] =
            picture.pixels[static_cast<std::size_t>((y * picture.width + x) * 3 + c)];
  gpu::UploadRing ring(device, {.slot_bytes = bound->picture_bytes()});
  gpu::Encoder encoder = device.create_encoder();
  if (geometry.packed)
    bound->write(picture, ring, encoder);
  else
    device.write(bound->picture(), 0, bytes);
  const gpu::Buffer out = device.create_buffer(
      {.size = bound->input().size(),
       .usage = gpu::BufferUsage::map_read | gpu::BufferUsage::copy_destination});
  bound->record(encoder);
  encoder.copy(bound->input(), 0, out, 0, out.size());
  device.submit(std::move(encoder));
  std::vector<float> values(static_cast<std::size_t>(out.size() / 4));
  WEFT_CO_OK(co_await device.read(
      out, 0, {reinterpret_cast<std::uint8_t*>(values.data()), values.size() * 4}));
  co_return values;
}

class PictureFit : public testing::TestWithParam<PictureKernel::Geometry> {};

TEST_P(PictureFit, IsThatOfThePlainLoops) {
  ASSERT_NE(machine().device, nullptr);
  const PictureKernel::Geometry geometry = GetParam();
  const Picture picture = noise(geometry.picture_width, geometry.picture_height);
  const FittedPicture expected = fitted(picture, geometry.width, geometry.height, geometry.fit);
  const Tensor tensor = tensor_of_picture(expected.picture, geometry.scale);

  const auto got =
      gpu::run(*machine().instance, fitted_there(*machine().device, picture, geometry));

  ASSERT_TRUE(got.has_value()) << got.error().message;
  const auto values = tensor.values<float>();
  ASSERT_EQ(got->size(), values.size());
  // f32 and f64 sums may round differently if they end near half a level; the result is then off by
  // one level.
  std::size_t apart = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double levels = std::abs(static_cast<double>((*got)[i]) - values[i]) /
                          static_cast<double>(geometry.scale.scale);
    ASSERT_LT(levels, 1.01) << "at " << i;
    apart += levels > 0.01 ? 1 : 0;
  }
  EXPECT_LE(apart, values.size() / 50);
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, PictureFit,
    testing::Values(
        PictureKernel::Geometry{
            .picture_width = 1280, .picture_height = 720, .width = 352, .height = 352},
        PictureKernel::Geometry{
            .picture_width = 333, .picture_height = 517, .width = 65, .height = 129},
        PictureKernel::Geometry{.picture_width = 17,
                                .picture_height = 9,
                                .width = 70,
                                .height = 50,
                                .fit = Fit::stretch,
                                .scale = {.blue_first = true, .mean = 127, .scale = 1.0f / 128}},
        PictureKernel::Geometry{.picture_width = 100,
                                .picture_height = 201,
                                .width = 64,
                                .height = 64,
                                .fit = Fit::top_left},
        PictureKernel::Geometry{.picture_width = 1, .picture_height = 1, .width = 3, .height = 5}));

// The sizes make the last pixel end at each byte of a word.
TEST(PictureKernel, TakesThreeBytesAPixelAsItTakesFour) {
  ASSERT_NE(machine().device, nullptr);
  for (const auto& [width, height] : {std::pair(131, 77), {64, 48}, {66, 33}, {65, 35}, {1, 1}}) {
    const Picture picture = noise(width, height);
    PictureKernel::Geometry geometry{
        .picture_width = width, .picture_height = height, .width = 65, .height = 40};

    const auto four =
        gpu::run(*machine().instance, fitted_there(*machine().device, picture, geometry));
    geometry.packed = true;
    const auto three =
        gpu::run(*machine().instance, fitted_there(*machine().device, picture, geometry));

    ASSERT_TRUE(four.has_value()) << four.error().message;
    ASSERT_TRUE(three.has_value()) << three.error().message;
    EXPECT_EQ(*three, *four) << width << " x " << height;
  }
}

TEST(PictureKernel, RefusesAPictureThatIsTooLarge) {
  ASSERT_NE(machine().device, nullptr);
  const auto kernel = gpu::run(*machine().instance, PictureKernel::create(*machine().device));
  ASSERT_TRUE(kernel.has_value()) << kernel.error().message;

  const auto bound =
      (*kernel)->bind({.picture_width = 8193, .picture_height = 1, .width = 4, .height = 4});

  ASSERT_FALSE(bound.has_value());
  EXPECT_EQ(bound.error().code, ErrorCode::resource_exhausted);
}

}  // namespace
}  // namespace weft::onnx
