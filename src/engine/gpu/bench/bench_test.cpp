// Tests that the kernels of the bench compute the right matrices on every device, and that a whole
// run fills in every number.
#include "engine/gpu/bench/bench.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "engine/gpu/native/instance.h"

namespace weft::gpu::bench {
namespace {

class BenchTest : public testing::TestWithParam<Arithmetic> {
 protected:
  // Small integers, which all three arithmetics represent exactly.
  static int value(std::size_t i) { return static_cast<int>(i * 2654435761U >> 16 & 3) - 1; }

  static ByteVector encoded(std::size_t count, std::size_t seed) {
    ByteVector bytes;
    for (std::size_t i = 0; i < count; ++i) {
      const int number = value(i + seed);
      if (GetParam() == Arithmetic::f32)
        append_le(bytes, std::bit_cast<std::uint32_t>(static_cast<float>(number)));
      if (GetParam() == Arithmetic::f16)
        append_le(bytes, std::uint16_t(number == 0   ? 0
                                       : number == 1 ? 0x3c00
                                       : number == 2 ? 0x4000
                                                     : 0xbc00));
      if (GetParam() == Arithmetic::int8_dot) bytes.push_back(static_cast<std::uint8_t>(number));
    }
    return bytes;
  }

  std::vector<double> result_of(Workload& work, const Buffer& from) {
    const Buffer staging = device_->create_buffer(
        {.size = from.size(), .usage = BufferUsage::map_read | BufferUsage::copy_destination});
    Encoder encoder = device_->create_encoder();
    {
      Pass pass = encoder.begin_pass();
      work.run(pass);
    }
    encoder.copy(from, 0, staging, 0, from.size());
    device_->submit(std::move(encoder));
    std::vector<std::uint32_t> words(from.size() / 4);
    EXPECT_TRUE(
        run(*instance_,
            device_->read(staging, 0, {reinterpret_cast<std::uint8_t*>(words.data()), from.size()}))
            .has_value());
    std::vector<double> values;
    for (const std::uint32_t word : words)
      values.push_back(GetParam() == Arithmetic::int8_dot
                           ? static_cast<double>(std::bit_cast<std::int32_t>(word))
                           : static_cast<double>(std::bit_cast<float>(word)));
    return values;
  }

  std::unique_ptr<PumpedInstance> instance_ = native::create_instance();
  std::unique_ptr<Device> device_ = run(*instance_, instance_->create_device({})).value();
};

TEST_P(BenchTest, MultipliesAMatrixByAVector) {
  if (!has(*device_, GetParam())) GTEST_SKIP() << "this device has no " << to_string(GetParam());
  const Shape shape{1, 256, 192};
  Workload work = run(*instance_, create_matvec(*device_, GetParam(), shape, 0)).value();
  device_->write(work.buffers[0], 0, encoded(shape.k, 7));
  device_->write(work.buffers[2], 0, encoded(std::size_t{shape.n} * shape.k, 0));

  const auto y = result_of(work, work.buffers[1]);

  for (std::size_t row = 0; row < shape.n; ++row) {
    int expected = 0;
    for (std::size_t k = 0; k < shape.k; ++k) expected += value(row * shape.k + k) * value(k + 7);
    ASSERT_EQ(y[row], expected) << "row " << row;
  }
}

TEST_P(BenchTest, MultipliesTwoMatrices) {
  if (!has(*device_, GetParam())) GTEST_SKIP() << "this device has no " << to_string(GetParam());
  const Shape shape{128, 64, 192};
  Workload work = run(*instance_, create_matmul(*device_, GetParam(), shape)).value();
  device_->write(work.buffers[0], 0, encoded(std::size_t{shape.m} * shape.k, 3));
  device_->write(work.buffers[1], 0, encoded(std::size_t{shape.n} * shape.k, 11));

  const auto c = result_of(work, work.buffers[2]);

  for (std::size_t row = 0; row < shape.m; ++row) {
    for (std::size_t column = 0; column < shape.n; ++column) {
      int expected = 0;
      for (std::size_t k = 0; k < shape.k; ++k)
        expected += value(row * shape.k + k + 3) * value(column * shape.k + k + 11);
      ASSERT_EQ(c[row * shape.n + column], expected) << row << ", " << column;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Each, BenchTest,
                         testing::Values(Arithmetic::f32, Arithmetic::f16, Arithmetic::int8_dot),
                         [](const auto& each) { return std::string(to_string(each.param)); });

TEST(Bench, FillsInEveryNumberAndCountsItsSteps) {
  const auto instance = native::create_instance();
  const auto device = run(*instance, instance->create_device({})).value();
  if (device->adapter().kind != AdapterKind::cpu) GTEST_SKIP() << "takes a while on a real GPU";
  std::size_t steps = 0;
  std::size_t announced = 0;

  const auto results = run(
      *instance,
      run_bench(*device, {.warm_up_seconds = 0,
                          .rounds = 1,
                          .progress = [&](std::string_view, std::size_t done, std::size_t total) {
                            EXPECT_EQ(done, steps++);
                            announced = total;
                          }}));

  ASSERT_TRUE(results.has_value()) << results.error().message;
  EXPECT_EQ(steps, announced);
  EXPECT_GT(results->dispatch.gpu_seconds, 0);
  EXPECT_GT(results->dispatch.record_seconds, 0);
  EXPECT_GT(results->copy_bytes_per_second, 0);
  EXPECT_GT(results->upload_bytes_per_second, 0);
  EXPECT_GT(results->readback_seconds, 0);
  EXPECT_FALSE(results->peaks.empty());
  EXPECT_EQ(results->matrices.size(), results->peaks.size() * 4);
  for (const MatrixRate& rate : results->matrices) EXPECT_GT(rate.of_peak, 0);
  EXPECT_TRUE(device->uncaptured_errors().empty());
}

}  // namespace
}  // namespace weft::gpu::bench
