// The tunings of products that keep a row's bits, by shape and device, without a GPU: a sum has the
// same parts for every number of rows, tiles fit, wide tiles are used if there are enough of them,
// and a software GPU has only short code to compile.
#include <gtest/gtest.h>

#include <array>

#include "engine/gpu/null/instance.h"
#include "engine/kernels/prefill/matmul.h"

namespace weft::kernels {
namespace {

constexpr std::uint32_t rows_most = 512;

class MatmulSameBits : public testing::Test {
 protected:
  // A device with matrices of side x side x side and `workgroup_bytes` bytes of workgroup memory.
  gpu::Device& device(std::uint32_t side, std::uint32_t workgroup_bytes = 49152) {
    gpu::AdapterInfo adapter = gpu::null::default_adapter();
    adapter.subgroup_size_min = adapter.subgroup_size_max = 2 * side;
    adapter.subgroup_matrices = {{"f16", "f32", side, side, side}};
    adapter.limits.workgroup_storage_bytes_max = workgroup_bytes;
    adapter.limits.workgroup_invocations_max = adapter.limits.workgroup_size_x_max = 1024;
    instance_ = gpu::null::create_instance({.adapters = {adapter}});
    device_ = gpu::run(*instance_, instance_->create_device({.trusted_shaders = true})).value();
    return *device_;
  }
  static MatmulSpec spec(std::uint32_t weight_rows, std::uint32_t columns,
                         MatmulOutput output = MatmulOutput::store) {
    MatmulSpec spec{.format = WeightFormat::q8,
                    .weight_rows = weight_rows,
                    .columns = columns,
                    .x_pitch = columns,
                    .output = output,
                    .x_halves = true};
    spec.y_pitch = spec.outputs();
    return spec;
  }

  std::unique_ptr<gpu::null::NullInstance> instance_;
  std::unique_ptr<gpu::Device> device_;
};

TEST_F(MatmulSameBits, HasTheSamePartsOfASumForEveryNumberOfRows) {
  for (const std::uint32_t side : {8u, 16u}) {
    for (const std::uint32_t bytes : {49152u, 32768u, 16384u}) {
      const gpu::Device& on = device(side, bytes);
      for (const auto& [rows, columns] : {std::pair(16384u, 2048u),
                                          {2048u, 8192u},
                                          {2048u, 2048u},
                                          {3072u, 2048u},
                                          {128256u, 2048u},
                                          {896u, 4864u},
                                          {1152u, 896u},
                                          {896u, 1152u},
                                          {200u, 160u},
                                          {64u, 32u}}) {
        SCOPED_TRACE(testing::Message() << rows << " x " << columns << ", matrices of " << side
                                        << ", " << bytes << " bytes");
        const std::vector<MatmulFrom> ways = matmul_same_bits(on, spec(rows, columns), rows_most);
        // If workgroups have 16 KiB, only one of the large tilings fits.
        ASSERT_GT(ways.size(), side == 16 && bytes == 16384 ? 0u : 1u);
        const auto part = [columns = columns](const MatmulTuning& tuning) {
          const std::uint32_t depths = (columns + tuning.tile_depth - 1) / tuning.tile_depth;
          return (depths + tuning.splits - 1) / tuning.splits * tuning.tile_depth;
        };
        std::uint32_t before = 0;
        for (const MatmulFrom& way : ways) {
          EXPECT_GT(way.rows_min, before);
          before = way.rows_min;
          EXPECT_EQ(way.tuning.splits, ways.front().tuning.splits);
          if (way.tuning.splits > 1) {
            EXPECT_EQ(part(way.tuning), part(ways.front().tuning));
          }
          EXPECT_LE(way.tuning.workgroup_bytes(), bytes);
        }
        EXPECT_EQ(ways.front().rows_min, 1u);
      }
    }
  }
}

TEST_F(MatmulSameBits, TakesWideTilesForFewRowsWhereThereAreEnoughOfThem) {
  const gpu::Device& on = device(16);

  const auto many = matmul_same_bits(on, spec(16384, 2048, MatmulOutput::swiglu), rows_most),
             few = matmul_same_bits(on, spec(2048, 2048), rows_most);

  EXPECT_EQ(many.front().tuning.tile_columns, 128u);
  EXPECT_EQ(many.front().tuning.threads(), 256u);
  EXPECT_EQ(few.front().tuning.tile_columns, 64u);
  for (const auto* ways : {&many, &few}) {
    EXPECT_EQ(ways->front().tuning.tile_rows, 32u);
    EXPECT_EQ(ways->front().tuning.tile_depth, 128u);
    EXPECT_FALSE(ways->front().tuning.ahead);
    EXPECT_EQ((*ways)[1].rows_min, 33u);
  }
}

// A software GPU takes ten seconds to compile sixteen multiplications.
TEST_F(MatmulSameBits, WritesOutFewMatricesForASoftwareGpu) {
  const gpu::Device& on = device(8);
  for (const auto output : {MatmulOutput::store, MatmulOutput::swiglu}) {
    const MatmulSpec wanted = spec(2048, 2048, output);
    for (const MatmulFrom& way : matmul_same_bits(on, wanted, rows_most)) {
      const std::string text = matmul_pipeline(wanted, way.tuning).wgsl;
      std::size_t multiplications = 0;
      for (std::size_t at = 0;
           (at = text.find("subgroupMatrixMultiplyAccumulate(", at)) != std::string::npos; ++at)
        ++multiplications;
      EXPECT_GE(multiplications, 1u);
      EXPECT_LE(multiplications, 2u) << "from " << way.rows_min << " rows on";
    }
  }
}

}  // namespace
}  // namespace weft::kernels
