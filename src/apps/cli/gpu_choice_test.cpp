// A GPU is chosen by a part of its name.
#include "apps/cli/gpu_choice.h"

#include <gtest/gtest.h>

namespace weft::cli {
namespace {

std::vector<gpu::AdapterInfo> two() {
  std::vector<gpu::AdapterInfo> out(2);
  out[0].device = "llvmpipe (LLVM 19)";
  out[0].kind = gpu::AdapterKind::cpu;
  out[1].device = "NVIDIA H200";
  out[1].kind = gpu::AdapterKind::discrete;
  return out;
}

TEST(GpuChoice, TakesTheBestOneOrTheOneThatIsNamed) {
  const auto adapters = two();
  EXPECT_EQ(choose_gpu("gpu", adapters)->number, 1U);
  EXPECT_EQ(choose_gpu("LLVM", adapters)->name, "llvmpipe (LLVM 19)");
  EXPECT_EQ(choose_gpu("h200", adapters)->number, 1U);
}

TEST(GpuChoice, NamesTheDevicesThatItKnows) {
  EXPECT_EQ(choose_gpu("Radeon", two()).error().message,
            "The device 'Radeon' is not gpu, cpu or a part of a GPU's name here: llvmpipe (LLVM "
            "19), NVIDIA H200.");
  EXPECT_EQ(choose_gpu("gpu", {}).error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace weft::cli
