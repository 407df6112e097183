// The GPU's integer matrix product equals the reference bit for bit, with and without the packed
// dot product, over shapes that fill tiles exactly, fall short by one, pass by one, or need padding
// inside a word.
#include "engine/kernels/matmul_i8.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "common/proof/freivalds.h"
#include "engine/gpu/native/instance.h"
#include "engine/kernels/reference/matmul_i8.h"

namespace weft::kernels {
namespace {

using Matrix = std::vector<std::int8_t>;

Matrix random_matrix(std::size_t size, std::uint32_t seed) {
  std::mt19937 random(seed);
  Matrix matrix(size);
  for (auto& value : matrix) value = static_cast<std::int8_t>(random());
  return matrix;
}

Async<Result<std::vector<std::int32_t>>> on_gpu(gpu::Device& device, const MatmulI8& matmul,
                                                MatmulShape shape, const Matrix& a,
                                                const Matrix& b) {
  using gpu::BufferUsage;
  const gpu::Buffer uniform = device.create_buffer(
      {.size = 16, .usage = BufferUsage::uniform | BufferUsage::copy_destination});
  const gpu::Buffer left =
      device.create_buffer({.size = MatmulI8::a_bytes(shape),
                            .usage = BufferUsage::storage | BufferUsage::copy_destination});
  const gpu::Buffer right =
      device.create_buffer({.size = MatmulI8::b_bytes(shape),
                            .usage = BufferUsage::storage | BufferUsage::copy_destination});
  const gpu::Buffer result = device.create_buffer(
      {.size = MatmulI8::c_bytes(shape), .usage = BufferUsage::storage | BufferUsage::copy_source});
  const gpu::Buffer readback =
      device.create_buffer({.size = MatmulI8::c_bytes(shape),
                            .usage = BufferUsage::map_read | BufferUsage::copy_destination});
  device.write(uniform, 0, MatmulI8::pack_shape(shape));
  device.write(left, 0, MatmulI8::pack_a(shape, as_bytes(std::span<const std::int8_t>(a))));
  device.write(right, 0, MatmulI8::pack_b(shape, as_bytes(std::span<const std::int8_t>(b))));
  const gpu::BindGroup group =
      matmul.bind(device, {.shape = uniform, .a = left, .b = right, .c = result});
  gpu::Encoder encoder = device.create_encoder();
  {
    gpu::Pass pass = encoder.begin_pass();
    matmul.run(pass, group, shape);
  }
  encoder.copy(result, 0, readback, 0, MatmulI8::c_bytes(shape));
  device.submit(std::move(encoder));
  std::vector<std::int32_t> c(std::size_t{shape.rows} * shape.n);
  WEFT_CO_OK(
      co_await device.read(readback, 0, {reinterpret_cast<std::uint8_t*>(c.data()), c.size() * 4}));
  co_return c;
}

constexpr MatmulShape shapes[] = {
    {1, 1, 1},    {1, 1, 3},   {2, 3, 4},   {5, 1, 7},    {1, 9, 33},   {63, 63, 31}, {64, 64, 32},
    {65, 65, 33}, {64, 66, 5}, {3, 130, 2}, {130, 3, 70}, {17, 34, 96}, {100, 67, 41}};

Async<Result<>> sweep(gpu::Instance& instance, MatmulI8::Dot dot) {
  WEFT_CO_ASSIGN(const auto device, co_await instance.create_device({}));
  WEFT_CO_ASSIGN(const MatmulI8 matmul, co_await MatmulI8::create(*device, dot));
  for (const MatmulShape& shape : shapes) {
    const Matrix a = random_matrix(std::size_t{shape.rows} * shape.k, shape.rows);
    const Matrix b = random_matrix(std::size_t{shape.k} * shape.n, shape.n);
    std::vector<std::int32_t> expected(std::size_t{shape.rows} * shape.n);
    reference::matmul_i8(shape, a, b, expected);
    WEFT_CO_ASSIGN(auto c, co_await on_gpu(*device, matmul, shape, a, b));
    EXPECT_EQ(c, expected) << shape.rows << " x " << shape.n << " x " << shape.k;
    const proof::MatrixProduct claim{
        .m = shape.rows, .n = shape.n, .k = shape.k, .a = a, .b = b, .c = c};
    EXPECT_TRUE(proof::freivalds_accepts(claim, shape.n))
        << shape.rows << " x " << shape.n << " x " << shape.k;
    ++c[c.size() / 2];
    EXPECT_FALSE(proof::freivalds_accepts(claim, shape.n))
        << shape.rows << " x " << shape.n << " x " << shape.k;
  }
  if (const auto errors = device->uncaptured_errors(); !errors.empty())
    co_return fail(ErrorCode::internal, "{}", errors.front());
  co_return Result<>();
}

TEST(MatmulI8, EqualsTheReferenceWithTheBestDotProduct) {
  const auto instance = gpu::native::create_instance();
  const auto result = gpu::run(*instance, sweep(*instance, MatmulI8::Dot::best));
  ASSERT_TRUE(result.has_value()) << result.error().message;
}

TEST(MatmulI8, EqualsTheReferenceWithoutThePackedDotProduct) {
  const auto instance = gpu::native::create_instance();
  const auto result = gpu::run(*instance, sweep(*instance, MatmulI8::Dot::plain));
  ASSERT_TRUE(result.has_value()) << result.error().message;
}

TEST(ReferenceMatmulI8, EqualsTheDefinition) {
  for (const MatmulShape& shape : shapes) {
    const Matrix a = random_matrix(std::size_t{shape.rows} * shape.k, 1);
    const Matrix b = random_matrix(std::size_t{shape.k} * shape.n, 2);
    std::vector<std::int32_t> c(std::size_t{shape.rows} * shape.n);

    reference::matmul_i8(shape, a, b, c);

    for (std::size_t i = 0; i < shape.rows; ++i) {
      for (std::size_t j = 0; j < shape.n; ++j) {
        std::int32_t sum = 0;
        for (std::size_t l = 0; l < shape.k; ++l) sum += a[i * shape.k + l] * b[l * shape.n + j];
        ASSERT_EQ(c[i * shape.n + j], sum);
      }
    }
  }
}

TEST(ReferenceMatmulI8, KeepsTheExtremesExact) {
  // The largest k of the format with the largest products: 131071 * 16384 is one product below
  // 2^31.
  const Matrix a(131071, -128);
  const Matrix b(131071, -128);
  std::vector<std::int32_t> c(1);

  reference::matmul_i8({.rows = 1, .n = 1, .k = 131071}, a, b, c);

  EXPECT_EQ(c[0], 2147467264);
}

}  // namespace
}  // namespace weft::kernels
