// The examples compute what they claim: each result is compared with an independent computation.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "apps/cli/files.h"
#include "apps/cli/local_job.h"
#include "apps/cli/local_run.h"
#include "common/base/format.h"
#include "common/crypto/sha256.h"
#include "common/proof/compare.h"
#include "common/proof/freivalds.h"
#include "common/proof/merkle.h"

namespace weft::cli {
namespace {

const std::filesystem::path examples = std::filesystem::path(WEFT_SOURCE_DIR) / "examples";

template <class T>
std::vector<T> elements(const ByteVector& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

struct Example {
  std::shared_ptr<const exec::Job> job;
  LocalResult result;
};

Example run_example(const char* name, LocalDevice device = LocalDevice::gpu) {
  auto job = load_local_job(examples / name);
  EXPECT_TRUE(job.has_value()) << job.error().message;
  if (!job) return {};
  auto result = run_locally(*job, device, std::nullopt, [](std::uint32_t, std::uint32_t) {});
  EXPECT_TRUE(result.has_value()) << result.error().message;
  return {.job = *job, .result = result ? std::move(*result) : LocalResult{}};
}

// Multiplies Q4.28 numbers with 64-bit products, rounded towards zero.
std::int64_t product(std::int64_t a, std::int64_t b) { return a * b / (std::int64_t{1} << 28); }

std::uint32_t mandelbrot_steps(std::int64_t cx, std::int64_t cy, std::uint32_t steps_max) {
  constexpr std::int64_t two = std::int64_t{2} << 28;
  std::int64_t x = 0;
  std::int64_t y = 0;
  for (std::uint32_t step = 0; step < steps_max; ++step) {
    if (std::abs(x) > two || std::abs(y) > two || product(x, x) + product(y, y) > 2 * two)
      return step;
    const std::int64_t next = product(x, x) - product(y, y) + cx;
    y = 2 * product(x, y) + cy;
    x = next;
  }
  return steps_max;
}

TEST(Examples, MandelbrotEqualsTheSameFixedPointInSixtyFourBits) {
  const Example mandelbrot = run_example("mandelbrot.json");
  ASSERT_EQ(mandelbrot.result.outputs.size(), 1U);
  EXPECT_EQ(mandelbrot.result.task_roots.size(), 64U);
  const auto steps = elements<std::uint32_t>(mandelbrot.result.outputs[0].bytes);
  // The left, right, top and bottom edge of the picture's region.
  const auto region = elements<std::int32_t>(mandelbrot.job->data[0]);

  ASSERT_EQ(steps.size(), 1024U * 1024U);
  std::size_t wrong = 0;
  for (std::int32_t row = 0; row < 1024; ++row) {
    for (std::int32_t column = 0; column < 1024; ++column) {
      const std::int32_t cx = region[0] + (region[1] - region[0]) / 1024 * column;
      const std::int32_t cy = region[2] + (region[3] - region[2]) / 1024 * row;
      const std::uint32_t expected = mandelbrot_steps(cx, cy, 500);
      if (steps[static_cast<std::size_t>(row) * 1024 + static_cast<std::size_t>(column)] !=
          expected)
        ++wrong;
    }
  }
  EXPECT_EQ(wrong, 0U);
}

TEST(Examples, MandelbrotAgreesWithFloatingPointInNearlyAllPixels) {
  // The fixed-point counts agree with a computation in doubles in more than 98 % of the compared
  // pixels. Pixels with more than 100 iterations in both count as equal, because long orbits
  // amplify rounding.
  const Example mandelbrot = run_example("mandelbrot.json");
  const auto steps = elements<std::uint32_t>(mandelbrot.result.outputs.at(0).bytes);
  const auto region = elements<std::int32_t>(mandelbrot.job->data[0]);
  // Size of a pixel in whole steps of the fixed-point format, as in the shader.
  const std::int32_t wide = (region[1] - region[0]) / 1024, high = (region[3] - region[2]) / 1024;
  std::size_t compared = 0;
  std::size_t same = 0;
  for (std::int32_t row = 0; row < 1024; row += 8) {
    for (std::int32_t column = 0; column < 1024; column += 8) {
      const double cx = (region[0] + wide * column) / 0x1p28;
      const double cy = (region[2] + high * row) / 0x1p28;
      double x = 0;
      double y = 0;
      std::uint32_t step = 0;
      for (; step < 500 && x * x + y * y <= 4; ++step) {
        const double next = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next;
      }
      const std::uint32_t found =
          steps[static_cast<std::size_t>(row) * 1024 + static_cast<std::size_t>(column)];
      ++compared;
      // Orbits are chaotic: in long orbits the last bits of the fixed-point numbers grow to a
      // visible difference.
      if (found == step || (found > 100 && step > 100)) ++same;
    }
  }
  EXPECT_GT(same, compared * 98 / 100);
}

TEST(Examples, TheMatrixProductPassesFreivaldsAndIsTheSameOnTheCpu) {
  const Example gpu = run_example("matmul.json");
  const Example cpu = run_example("matmul.json", LocalDevice::cpu);
  const auto c = elements<std::int32_t>(gpu.result.outputs.at(0).bytes);
  const auto a = elements<std::int8_t>(gpu.job->data[0]);
  const auto b = elements<std::int8_t>(gpu.job->data[1]);

  EXPECT_TRUE(
      proof::freivalds_accepts({.m = 512, .n = 512, .k = 512, .a = a, .b = b, .c = c}, 20260101));
  EXPECT_EQ(gpu.result.outputs[0].bytes, cpu.result.outputs.at(0).bytes);
  EXPECT_EQ(gpu.result.job_root, cpu.result.job_root);
}

TEST(Examples, TheBodiesAgreeWithDoublePrecisionWithinTheTolerance) {
  const Example nbody = run_example("nbody.json");
  ASSERT_EQ(nbody.result.outputs.size(), 2U);
  const auto step = elements<float>(nbody.job->data[0]);
  const auto positions = elements<float>(nbody.job->data[1]);
  const auto velocities = elements<float>(nbody.job->data[2]);
  const std::size_t count = positions.size() / 4;

  std::vector<float> expected_positions(positions.size());
  std::vector<float> expected_velocities(positions.size());
  for (std::size_t i = 0; i < count; ++i) {
    std::array<double, 3> acceleration{};
    for (std::size_t j = 0; j < count; ++j) {
      std::array<double, 3> towards{};
      double square = double{step[1]} * step[1];
      for (std::size_t d = 0; d < 3; ++d) {
        towards[d] = double{positions[4 * j + d]} - positions[4 * i + d];
        square += towards[d] * towards[d];
      }
      for (std::size_t d = 0; d < 3; ++d)
        acceleration[d] += towards[d] * positions[4 * j + 3] / (square * std::sqrt(square));
    }
    for (std::size_t d = 0; d < 3; ++d) {
      const double velocity = velocities[4 * i + d] + acceleration[d] * step[0];
      expected_velocities[4 * i + d] = static_cast<float>(velocity);
      expected_positions[4 * i + d] = static_cast<float>(positions[4 * i + d] + velocity * step[0]);
    }
    expected_positions[4 * i + 3] = positions[4 * i + 3];
  }

  const manifest::Compare& compare = nbody.job->manifest.verify.compare;
  ASSERT_FALSE(compare.exact);
  const proof::Tolerance tolerance{.absolute = compare.absolute, .relative = compare.relative};
  const auto agree = [&](const ByteVector& found, const std::vector<float>& expected) {
    return proof::difference(found, as_bytes(std::span<const float>(expected)),
                             proof::NumberType::f32, tolerance);
  };
  EXPECT_EQ(agree(nbody.result.outputs[0].bytes, expected_positions), std::nullopt);
  EXPECT_EQ(agree(nbody.result.outputs[1].bytes, expected_velocities), std::nullopt);
}

// Computes what the function `marked` of sha256_search.wgsl computes.
void mark(std::array<std::uint32_t, 2>& mark, std::uint32_t word) {
  const std::uint32_t x = (mark[0] ^ word) * 0x9e3779b1U;
  mark = {std::rotr(x, 15) + mark[1], x * 0x85ebca6bU};
}

TEST(Examples, TheSearchFindsTheSmallestDigestOfEveryWorkgroupAndMarksEachThatItComputed) {
  const Example search = run_example("sha256_search.json");
  const auto best = elements<std::uint32_t>(search.result.outputs.at(0).bytes);
  const auto work = elements<std::uint32_t>(search.result.outputs.at(1).bytes);
  ASSERT_EQ(best.size(), 512U);
  ASSERT_EQ(work.size(), 512U);

  for (std::uint32_t group = 0; group < 256; ++group) {
    std::uint32_t smallest = 0xffffffff;
    std::uint32_t nonce_of_smallest = 0;
    std::array<std::array<std::uint32_t, 2>, 64> marks{};
    for (std::uint32_t nonce = group * 4096; nonce < (group + 1) * 4096; ++nonce) {
      const Hash digest = crypto::sha256(as_bytes(weft::format("weft{:08x}", nonce)));
      const std::uint32_t word = std::uint32_t{digest.bytes[0]} << 24U |
                                 std::uint32_t{digest.bytes[1]} << 16U |
                                 std::uint32_t{digest.bytes[2]} << 8U | digest.bytes[3];
      auto& its = marks.at(nonce / 64 % 64);
      if (nonce % 64 == 0) its = {nonce, 0};
      mark(its, word);
      if (word < smallest) {
        smallest = word;
        nonce_of_smallest = nonce;
      }
    }
    ASSERT_EQ(best[std::size_t{2} * group], smallest) << group;
    ASSERT_EQ(best[std::size_t{2} * group + 1], nonce_of_smallest) << group;
    for (std::size_t lane = 1; lane < marks.size(); ++lane) {
      mark(marks[0], marks.at(lane)[0]);
      mark(marks[0], marks.at(lane)[1]);
    }
    ASSERT_EQ(work[std::size_t{2} * group], marks[0][0]) << group;
    ASSERT_EQ(work[std::size_t{2} * group + 1], marks[0][1]) << group;
  }
}

}  // namespace
}  // namespace weft::cli
