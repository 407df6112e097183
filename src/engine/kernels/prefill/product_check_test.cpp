// The Gaussian variant of Freivalds' check (common/proof) accepts all f32 products of this device,
// whatever its tiles and splits are, and refuses one wrong element.
#include "common/proof/freivalds_float.h"
#include "engine/kernels/prefill/matmul.h"
#include "engine/kernels/test_device.h"
#include "engine/kernels/test_weights.h"

namespace weft::kernels {
namespace {

class ProductCheckTest : public test::KernelTest {
 protected:
  // Computes x [rows][columns] times the transposed matrix.
  static std::vector<float> on_gpu(const test::Matrix& matrix, const MatmulTuning& tuning,
                                   const MatmulSpec& spec, const std::vector<float>& x,
                                   std::uint32_t rows) {
    const WeightLayout layout{weight_format(matrix.type), matrix.columns};
    ByteVector quants(std::size_t{layout.quant_row_bytes()} * matrix.rows),
        scales(std::size_t{layout.scale_row_bytes()} * matrix.rows);
    EXPECT_TRUE(
        pack_weights(matrix.type, matrix.columns, matrix.bytes, quants, scales).has_value());
    const gpu::Buffer quants_buffer = upload(quants), scales_buffer = upload(scales),
                      bias = upload(std::vector<float>(spec.weight_rows, 0.0f));
    const gpu::Pipeline pipeline = compile(matmul_pipeline(spec, tuning));
    const gpu::BindGroup weights =
        device().create_bind_group(pipeline, 0, {{0, quants_buffer}, {1, scales_buffer}});
    const std::size_t count = std::size_t{rows} * spec.y_pitch;
    const gpu::Buffer x_buffer = upload(x), y = upload(std::vector<float>(count, 0.0f)),
                      size = uniform({.rows = rows, .segments = 1});
    const gpu::BindGroup group =
        device().create_bind_group(pipeline, 1, {{0, x_buffer}, {1, y}, {2, bias}, {3, size}});
    run(pipeline, {&weights, &group}, matmul_workgroups(spec, tuning, rows));
    return download<float>(y, count);
  }
};

TEST_F(ProductCheckTest, AcceptsWhatTheDeviceMultipliesAndNothingElse) {
  for (const std::uint32_t columns : {32U, 160U, 768U}) {
    for (const std::uint32_t rows : {1U, 17U, 65U}) {
      const test::Matrix matrix = test::random_matrix(gguf::TensorType::f32, 70, columns);
      const MatmulSpec spec{.format = weight_format(matrix.type),
                            .weight_rows = matrix.rows,
                            .columns = columns,
                            .x_pitch = columns,
                            .y_pitch = matrix.rows};
      MatmulTuning tuning = matmul_tuning(device(), spec, {.rows = 64, .exact = true});
      tuning.splits = 1;
      ASSERT_EQ(tuning.matrix_m, 0U) << "exact products are in f32";
      const std::vector<float> x = test::random_floats(std::size_t{rows} * columns, rows + columns);
      std::vector<float> b(std::size_t{columns} * matrix.rows);
      for (std::uint32_t n = 0; n < matrix.rows; ++n) {
        for (std::uint32_t c = 0; c < columns; ++c)
          b[std::size_t{c} * matrix.rows + n] =
              static_cast<float>(matrix.values[std::size_t{n} * columns + c]);
      }
      std::vector<float> y = on_gpu(matrix, tuning, spec, x, rows);
      const proof::FloatProduct claim{
          .m = rows, .n = matrix.rows, .k = columns, .a = x, .b = b, .c = y};

      for (std::uint64_t seed = 0; seed < 100; ++seed)
        ASSERT_TRUE(proof::freivalds_accepts(claim, seed)) << rows << " x " << columns;
      float& one = y[y.size() / 2];
      double norm = 0;
      for (const float value : y) norm += static_cast<double>(value) * value;
      one += static_cast<float>(
          // An error of the size of a typical element.
          std::sqrt(norm / static_cast<double>(y.size())));
      EXPECT_FALSE(proof::freivalds_accepts(claim, 1)) << rows << " x " << columns;
    }
  }
}

}  // namespace
}  // namespace weft::kernels
