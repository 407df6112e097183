// Kernels on the CPU compute the same bytes in any number of pieces, and the deadline is checked
// after each piece.
#include "apps/worker/native/cpu_runner.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "common/base/format.h"

namespace weft::worker {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<const exec::Job> product(std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  const std::string text = weft::format(
      R"({{"weft":1,"kind":"kernel","kernel":"matmul_i8","name":"k","m":{},"n":{},"k":{},"a":{{"path":"a"}},"b":{{"path":"b"}},"split":{{"tasks":1}}}})",
      m, n, k);
  exec::Job job{.manifest = manifest::parse(text).value(),
                .shader = "",
                .data = {ByteVector(std::size_t{m} * k), ByteVector(std::size_t{k} * n)}};
  std::mt19937 random(1);
  for (ByteVector& matrix : job.data) {
    for (std::uint8_t& value : matrix) value = static_cast<std::uint8_t>(random());
  }
  return std::make_shared<const exec::Job>(std::move(job));
}

Result<exec::Output> run(CpuRunner& runner, std::shared_ptr<const exec::Job> job,
                         std::uint32_t rows, Duration wall_max = 60s) {
  return runner.run({.job = std::move(job),
                     .options = {.range = {.first = 0, .count = rows}, .piece_workgroups_max = 0},
                     .wall_max = wall_max});
}

TEST(CpuRunner, GivesTheProductWhereItTakesSeveralPieces) {
  const std::uint32_t m = 2;
  const std::uint32_t n = 16384;
  const std::uint32_t k = 16384;  // A row takes 2^28 products: a piece of its own.
  const auto job = product(m, n, k);

  CpuRunner runner({});

  const auto output = run(runner, job, m);

  ASSERT_TRUE(output.has_value()) << output.error().message;
  ASSERT_EQ(output->outputs[0].size(), std::size_t{m} * n * 4);
  for (const auto& [row, column] : {std::pair{0U, 0U}, {1U, 77U}, {1U, 16383U}}) {
    std::int32_t sum = 0;
    for (std::uint32_t i = 0; i < k; ++i)
      sum += static_cast<std::int8_t>(job->data[0][row * k + i]) *
             static_cast<std::int8_t>(job->data[1][std::size_t{i} * n + column]);
    std::int32_t got = 0;
    std::memcpy(&got, output->outputs[0].data() + (std::size_t{row} * n + column) * 4, 4);
    EXPECT_EQ(got, sum) << row << "," << column;
  }
}

TEST(CpuRunner, EndsAtItsDeadline) {
  CpuRunner runner({});
  EXPECT_EQ(run(runner, product(64, 64, 64), 64, -1s).error().code, ErrorCode::deadline_exceeded);
  EXPECT_TRUE(run(runner, product(64, 64, 64), 64).has_value());
}

}  // namespace
}  // namespace weft::worker
