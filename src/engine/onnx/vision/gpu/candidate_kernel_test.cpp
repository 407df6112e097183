// Tests that the GPU finds every row that is a box for the processor, whatever bits the outputs
// have.
#include "engine/onnx/vision/gpu/candidate_kernel.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <random>

#include "engine/onnx/gpu/test_gpu.h"

namespace weft::onnx {
namespace {

using Bits = std::vector<std::uint32_t>;

// Makes numbers in [0, 1) of which one in ten is unusual: zeros, the smallest and the largest
// numbers, infinities, NaN and negative numbers.
Tensor unusual_numbers(Shape shape, std::uint32_t seed) {
  constexpr std::uint32_t rare[] = {0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff,
                                    0x00800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
                                    0x7fc00000, 0xffc00000, 0x7f800001, 0x3f800000, 0xbf800000};
  std::mt19937 random(seed);
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (float& value : values)
    value = random() % 10 == 0 ? std::bit_cast<float>(rare[random() % std::size(rare)])
                               : static_cast<float>(random() >> 8) / static_cast<float>(1 << 24);
  return Tensor::of<float>(std::move(shape), values);
}

struct Chosen {
  std::optional<std::vector<Candidate>> candidates;
};

Async<Result<Chosen>> chosen_there(const std::vector<Tensor>& outputs, double score_min) {
  gpu::Device& device = *test::gpu_machine().device;
  WEFT_CO_ASSIGN(const auto kernel, co_await CandidateKernel::create(device));
  std::vector<gpu::Buffer> buffers;
  std::vector<gpu::BoundBuffer> places;
  std::vector<Shape> shapes;
  buffers.reserve(outputs.size());
  for (const Tensor& output : outputs) {
    buffers.push_back(device.create_buffer(
        {.size = output.byte_count(),
         .usage = gpu::BufferUsage::storage | gpu::BufferUsage::copy_destination}));
    device.write(buffers.back(), 0, output.bytes());
    places.push_back({.binding = 0, .buffer = buffers.back()});
    shapes.push_back(output.shape());
  }
  WEFT_CO_ASSIGN(const auto bound, kernel->bind(shapes, places));
  bound->set_score(score_min);
  gpu::Encoder encoder = device.create_encoder();
  bound->record(encoder);
  device.submit(std::move(encoder));
  Chosen out;
  WEFT_CO_ASSIGN(out.candidates, co_await bound->read());
  co_return out;
}

// Returns the bits of each detection, so that NaN is equal to itself.
std::vector<std::array<std::uint64_t, 6>> bits_of(const std::vector<Detection>& found) {
  std::vector<std::array<std::uint64_t, 6>> out;
  for (const Detection& one : found) {
    out.push_back(
        {static_cast<std::uint64_t>(one.class_id), std::bit_cast<std::uint64_t>(one.score)});
    for (std::size_t side = 0; side < 4; ++side)
      out.back()[2 + side] = std::bit_cast<std::uint64_t>(one.box[side]);
  }
  return out;
}

void expect_same_boxes(const std::vector<Tensor>& outputs, DetectorKind kind) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double score_min :
       {0.25, 0.0, -0.0, 0.7, 1.0, 1e-45, 1e-39, 0.1, 1e20, -1.0, -1e-50, 3.5e38, -1e300, infinity,
        -infinity, std::numeric_limits<double>::quiet_NaN()}) {
    const DetectionBounds bounds{.score_min = score_min, .overlap_max = 0.99};
    const auto expected = detections_of(outputs, 320, 240, {}, bounds);
    const auto got = gpu::run(*test::gpu_machine().instance, chosen_there(outputs, score_min));

    ASSERT_TRUE(expected.has_value());
    ASSERT_TRUE(got.has_value()) << got.error().message;
    ASSERT_TRUE(got->candidates.has_value());
    EXPECT_EQ(bits_of(detections_of(*got->candidates, kind, 320, 240, {}, bounds)),
              bits_of(*expected))
        << "over " << score_min;
  }
  EXPECT_TRUE(test::gpu_machine().device->uncaptured_errors().empty());
}

TEST(CandidateKernel, LeavesOutNoBoxOfADetectorWithObjectness) {
  ASSERT_NE(test::gpu_machine().device, nullptr) << "no GPU, not even a software one";
  expect_same_boxes({unusual_numbers({1, 1000, 9}, 1)}, DetectorKind::objectness);
  expect_same_boxes({unusual_numbers({1, 321, 85}, 2)}, DetectorKind::objectness);
}

TEST(CandidateKernel, LeavesOutNoBoxOfADetectorWithCorners) {
  ASSERT_NE(test::gpu_machine().device, nullptr) << "no GPU, not even a software one";
  expect_same_boxes({unusual_numbers({1, 1000, 2}, 3), unusual_numbers({1, 1000, 4}, 4)},
                    DetectorKind::classes_and_corners);
  expect_same_boxes({unusual_numbers({1, 65, 16}, 5), unusual_numbers({1, 65, 4}, 6)},
                    DetectorKind::classes_and_corners);
}

TEST(CandidateKernel, ChoosesAndDoesNotHandEverythingOn) {
  ASSERT_NE(test::gpu_machine().device, nullptr) << "no GPU, not even a software one";
  std::vector<float> rows(1000 * 6, 0.0f);
  for (const std::size_t row : {17, 400, 999}) rows[row * 6 + 4] = rows[row * 6 + 5] = 0.9f;
  rows[500 * 6 + 4] = 0.9f;  // This row has an object but no class.

  const auto got = gpu::run(*test::gpu_machine().instance,
                            chosen_there({Tensor::of<float>({1, 1000, 6}, rows)}, 0.5));

  ASSERT_TRUE(got.has_value() && got->candidates.has_value());
  EXPECT_EQ(got->candidates->size(), 3u);
}

TEST(CandidateKernel, SaysThatThereWereMoreThanComeDown) {
  ASSERT_NE(test::gpu_machine().device, nullptr) << "no GPU, not even a software one";
  const auto rows = static_cast<std::int64_t>(CandidateKernel::candidates_max);
  const auto chosen = [](std::int64_t count) {
    const std::vector<float> ones(static_cast<std::size_t>(count * 6), 1.0f);
    return gpu::run(*test::gpu_machine().instance,
                    chosen_there({Tensor::of<float>({1, count, 6}, ones)}, 0.5));
  };

  const auto all = chosen(rows), more = chosen(rows + 1);

  ASSERT_TRUE(all.has_value() && more.has_value());
  ASSERT_TRUE(all->candidates.has_value());
  EXPECT_EQ(all->candidates->size(), static_cast<std::size_t>(rows));
  EXPECT_FALSE(more->candidates.has_value());
}

}  // namespace
}  // namespace weft::onnx
