#include "engine/kernels/prefill/matmul_text.h"

#include <string_view>

#include "common/base/format.h"
#include "engine/kernels/prefill/matmul_matrices.wgsl.h"
#include "engine/kernels/prefill/written_out.h"

namespace weft::kernels {
namespace {

// Elements that a thread carries: element `i` of `count` that the threads share. Threads past the
// end do the last one again.
std::string element(std::string_view name, std::uint32_t i, std::uint32_t count,
                    std::uint32_t threads) {
  if ((i + 1) * threads <= count)
    return weft::format("    let {}{} = index + {}u;\n", name, i, i * threads);
  return weft::format("    let {}{} = min(index + {}u, {}u);\n", name, i, i * threads, count - 1);
}

}  // namespace

std::string matmul_matrices_text(const MatmulSpec& spec, const MatmulTuning& tuning) {
  const std::uint32_t down = tuning.subgroup_rows / tuning.matrix_m,
                      across = tuning.subgroup_columns / tuning.matrix_n,
                      threads = tuning.threads(),
                      kinds = spec.output == MatmulOutput::swiglu ? 2 : 1;
  const std::uint32_t x_cells = tuning.tile_rows * tuning.tile_depth / 8,
                      w_lanes = tuning.tile_columns * tuning.tile_depth / 16;
  const bool ragged = spec.columns % tuning.tile_depth != 0;
  std::string sums, fetch, put, multiply, finish;
  for (std::uint32_t i = 0; i < down; ++i)
    for (std::uint32_t j = 0; j < across; ++j)
      sums += weft::format("  var s{}_{} = Sum();\n", i, j);

  for (std::uint32_t i = 0; i * threads < x_cells; ++i) {
    fetch += element("xe", i, x_cells, threads);
    const std::string cell =
        ragged ? weft::format("min(next / 8u + xe{} % {}u, COLUMNS / 8u - 1u)", i,
                              tuning.tile_depth / 8)
               : weft::format("(next / 8u + xe{} % {}u)", i, tuning.tile_depth / 8);
    fetch += weft::format(
        "    let xf{0} = min(first_row + xe{0} / {1}u, batch.rows - 1u) * X_PITCH + {2} * {3}u;\n  "
        "  let xa{0} = x[xf{0}];\n",
        i, tuning.tile_depth / 8, cell, spec.x_halves ? 1 : 2);
    if (!spec.x_halves) fetch += weft::format("    let xb{0} = x[xf{0} + 1u];\n", i);
    put += weft::format("    stage[writes + xe{0} / {1}u * PITCH + xe{0} % {1}u] = {2};\n", i,
                        tuning.tile_depth / 8,
                        spec.x_halves ? weft::format("x_turned(xa{})", i)
                                      : weft::format("x_halves(xa{0}, xb{0})", i));
  }
  for (std::uint32_t i = 0; i * threads < w_lanes; ++i) {
    fetch += element("we", i, w_lanes, threads);
    fetch += weft::format(
        "    let wl{0} = next / 16u + we{0} % {1}u;\n    let w{0} = halves16(weight_row(first, "
        "we{0} / {1}u), {2});\n",
        i, tuning.tile_depth / 16,
        ragged ? weft::format("min(wl{}, LANES - 1u)", i) : weft::format("wl{}", i));
    put += weft::format(
        "    let wp{0} = writes + W_TILE + we{0} / {1}u * PITCH + we{0} % {1}u * 2u;\n", i,
        tuning.tile_depth / 16);
    for (std::uint32_t half = 0; half < 2; ++half)
      put += ragged ? weft::format(
                          "    stage[wp{0} + {1}u] = select(vec4u(), w{0}[{1}], wl{0} < LANES);\n",
                          i, half)
                    : weft::format("    stage[wp{0} + {1}u] = w{0}[{1}];\n", i, half);
  }

  for (std::uint32_t step = 0; step < tuning.tile_depth / tuning.matrix_k; ++step) {
    const std::uint32_t cell = step * tuning.matrix_k / 8;
    for (std::uint32_t i = 0; i < down; ++i)
      multiply += weft::format(
          "    let l{0}_{1} = subgroupMatrixLoad<Left, row_major>(&stage, reads + x_from + {2}u * "
          "PITCH + "
          "{3}u, PITCH);\n",
          step, i, i * tuning.matrix_m, cell);
    for (std::uint32_t j = 0; j < across; ++j) {
      multiply += weft::format(
          "    let r{0}_{1} = subgroupMatrixLoad<Right, col_major>(&stage, reads + w_from + {2}u * "
          "PITCH + "
          "{3}u, PITCH);\n",
          step, j, j * tuning.matrix_n, cell);
      for (std::uint32_t i = 0; i < down; ++i)
        multiply += weft::format(
            "    s{1}_{2} = subgroupMatrixMultiplyAccumulate(l{0}_{1}, r{0}_{2}, s{1}_{2});\n",
            step, i, j);
    }
  }

  for (std::uint32_t i = 0; i < down; ++i) {
    for (std::uint32_t j = 0; j < across / kinds; ++j) {
      finish += "  workgroupBarrier();\n";
      for (std::uint32_t kind = 0; kind < kinds; ++kind)
        finish += weft::format(
            "  subgroupMatrixStore<row_major>(&stage, mine + {}u * PATCH, s{}_{}, MATRIX_N / "
            "4u);\n",
            kind, i, j + kind * (across / kinds));
      finish += weft::format(
          "  workgroupBarrier();\n  finish_patch(first_row + subgroup_row + {}u, first + subgroup "
          "% SUBGROUPS_ACROSS * SUBGROUP_OUTPUTS + {}u, "
          "shift, "
          "mine, lane);\n",
          i * tuning.matrix_m, j * tuning.matrix_n);
    }
  }

  std::string text(wgsl::matmul_matrices_wgsl);
  replace_mark(text, "//@sums\n", sums);
  replace_mark(text, "    //@ahead\n", tuning.ahead ? fetch : "");
  replace_mark(text, "    //@behind\n", tuning.ahead ? "" : fetch);
  replace_mark(text, "//@fetch\n", fetch);
  replace_mark(text, "//@put\n", put);
  replace_mark(text, "//@multiply\n", multiply);
  replace_mark(text, "//@finish\n", finish);
  return text;
}

}  // namespace weft::kernels
