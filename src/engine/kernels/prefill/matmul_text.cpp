#include "engine/kernels/prefill/matmul_text.h"

#include <algorithm>
#include <string_view>

#include "common/base/format.h"
#include "engine/kernels/prefill/matmul_matrices.wgsl.h"
#include "engine/kernels/prefill/written_out.h"

namespace weft::kernels {
namespace {

// The elements that a thread moves from memory to a tile: cells of x and lanes of w.
class Carried {
 public:
  Carried(const MatmulSpec& spec, const MatmulTuning& tuning)
      : spec_(spec),
        threads_(tuning.threads()),
        cells_across_(tuning.tile_depth / 8),
        lanes_across_(tuning.tile_depth / 16),
        x_cells_(tuning.tile_rows * cells_across_),
        w_lanes_(tuning.tile_columns * lanes_across_),
        ragged_(spec.columns % tuning.tile_depth != 0) {}

  // Returns statements that compute the places of a thread's elements, which are the same in every
  // step.
  [[nodiscard]] std::string places() const {
    std::string out;
    for (std::uint32_t i = 0; i * threads_ < x_cells_; ++i) {
      out += element("xe", i, x_cells_);
      out += weft::format(
          "  let xr{0} = min(first_row + xe{0} / {1}u, batch.rows - 1u) * X_PITCH;\n"
          "  let xc{0} = xe{0} % {1}u;\n  let xp{0} = xe{0} / {1}u * PITCH + xc{0};\n",
          i, cells_across_);
    }
    for (std::uint32_t i = 0; i * threads_ < w_lanes_; ++i) {
      out += element("we", i, w_lanes_);
      out += weft::format(
          "  let wr{0} = weight_row(first, we{0} / {1}u);\n  let wc{0} = we{0} % {1}u;\n"
          "  let wp{0} = W_TILE + we{0} / {1}u * PITCH + wc{0} * 2u;\n",
          i, lanes_across_);
    }
    return out;
  }

  // Statements that load step k from memory.
  [[nodiscard]] std::string fetch() const {
    std::string out;
    for (std::uint32_t i = 0; i * threads_ < x_cells_; ++i) {
      const std::string cell = ragged_ ? weft::format("min(k / 8u + xc{}, COLUMNS / 8u - 1u)", i)
                                       : weft::format("(k / 8u + xc{})", i);
      out += weft::format("    let xa{0} = x[xr{0} + {1}{2}];\n", i, cell,
                          spec_.x_halves ? "" : " * 2u");
      if (!spec_.x_halves)
        out += weft::format("    let xb{0} = x[xr{0} + {1} * 2u + 1u];\n", i, cell);
    }
    for (std::uint32_t i = 0; i * threads_ < w_lanes_; ++i)
      out += weft::format(
          "    let wl{0} = k / 16u + wc{0};\n    let w{0} = lane16(wr{0}, {1});\n", i,
          ragged_ ? weft::format("min(wl{}, LANES - 1u)", i) : weft::format("wl{}", i));
    return out;
  }

  // Statements that store step k in the tile.
  [[nodiscard]] std::string put() const {
    std::string out;
    for (std::uint32_t i = 0; i * threads_ < x_cells_; ++i)
      out += weft::format("    stage[xp{}] = {};\n", i,
                          spec_.x_halves ? weft::format("x_turned(xa{})", i)
                                         : weft::format("x_halves(xa{0}, xb{0})", i));
    for (std::uint32_t i = 0; i * threads_ < w_lanes_; ++i) {
      out += weft::format("    let wh{0} = halves16(w{0}, wl{0});\n", i);
      for (std::uint32_t half = 0; half < 2; ++half)
        out += ragged_ ? weft::format(
                             "    stage[wp{0} + {1}u] = select(vec4u(), wh{0}[{1}], "
                             "wl{0} < LANES);\n",
                             i, half)
                       : weft::format("    stage[wp{0} + {1}u] = wh{0}[{1}];\n", i, half);
    }
    return out;
  }

 private:
  // The statement for element `i` of `count` elements that the threads share. Threads past the end
  // use the last element.
  [[nodiscard]] std::string element(std::string_view name, std::uint32_t i,
                                    std::uint32_t count) const {
    if ((i + 1) * threads_ <= count)
      return weft::format("  let {}{} = index + {}u;\n", name, i, i * threads_);
    return weft::format("  let {}{} = min(index + {}u, {}u);\n", name, i, i * threads_, count - 1);
  }

  const MatmulSpec& spec_;
  const std::uint32_t threads_, cells_across_, lanes_across_, x_cells_, w_lanes_;
  const bool ragged_;
};

// Matrices of 8 x 8 are those of software GPUs. Their drivers write out every element of a matrix,
// and their compile time grows with the square of the code between two branches. The matrices are
// therefore multiplied in a loop whose number of iterations the driver cannot know, because it
// would unroll the loop otherwise: `none` is 0, since no pass has 2^24 rows, but only the host
// knows that.
bool matrices_in_loops(const MatmulTuning& tuning) { return tuning.matrix_m < 16; }

// The statements of one multiplication of a tile, beginning with the cell `cell` of each of its
// rows.
std::string multiply_text(const MatmulTuning& tuning, std::uint32_t step, const std::string& cell) {
  const std::uint32_t down = tuning.subgroup_rows / tuning.matrix_m,
                      across = tuning.subgroup_columns / tuning.matrix_n;
  std::string out;
  for (std::uint32_t i = 0; i < down; ++i)
    out += weft::format(
        "    let l{0}_{1} = subgroupMatrixLoad<Left, row_major>(&stage, x_from + {2}u * PITCH + "
        "{3}, PITCH);\n",
        step, i, i * tuning.matrix_m, cell);
  for (std::uint32_t j = 0; j < across; ++j) {
    out += weft::format(
        "    let r{0}_{1} = subgroupMatrixLoad<Right, col_major>(&stage, w_from + {2}u * PITCH + "
        "{3}, PITCH);\n",
        step, j, j * tuning.matrix_n, cell);
    for (std::uint32_t i = 0; i < down; ++i)
      out += weft::format(
          "    s{1}_{2} = subgroupMatrixMultiplyAccumulate(l{0}_{1}, r{0}_{2}, s{1}_{2});\n", step,
          i, j);
  }
  return out;
}

}  // namespace

std::uint32_t matmul_patches(const MatmulSpec& spec, const MatmulTuning& tuning) {
  const std::uint32_t kinds = spec.output == MatmulOutput::swiglu ? 2 : 1,
                      sums = tuning.subgroup_rows / tuning.matrix_m *
                             (tuning.subgroup_columns / tuning.matrix_n / kinds),
                      bytes = tuning.threads() / tuning.subgroup_size * tuning.matrix_m *
                              tuning.matrix_n * 4 * kinds;
  return std::clamp(tuning.workgroup_bytes() / bytes, 1u, sums);
}

std::string matmul_matrices_text(const MatmulSpec& spec, const MatmulTuning& tuning) {
  const std::uint32_t down = tuning.subgroup_rows / tuning.matrix_m,
                      across = tuning.subgroup_columns / tuning.matrix_n,
                      kinds = spec.output == MatmulOutput::swiglu ? 2 : 1,
                      outputs_across = across / kinds, patches = matmul_patches(spec, tuning);
  const Carried carried(spec, tuning);
  std::string sums, multiply, finish;
  for (std::uint32_t i = 0; i < down; ++i)
    for (std::uint32_t j = 0; j < across; ++j)
      sums += weft::format("  var s{}_{} = Sum();\n", i, j);

  const std::uint32_t depths = tuning.tile_depth / tuning.matrix_k;
  if (matrices_in_loops(tuning)) {
    sums += "  let none = batch.rows >> 24u;\n";
    multiply = weft::format("    for (var step = 0u; step < {}u; step = (step + 1u) | none) {{\n",
                            depths) +
               multiply_text(tuning, 0, weft::format("step * {}u", tuning.matrix_k / 8)) +
               "    }\n";
  } else {
    for (std::uint32_t step = 0; step < depths; ++step)
      multiply += multiply_text(tuning, step, weft::format("{}u", step * tuning.matrix_k / 8));
  }

  // Stores as many matrices at a time as fit into workgroup memory.
  for (std::uint32_t first = 0; first < down * outputs_across; first += patches) {
    const std::uint32_t end = std::min(first + patches, down * outputs_across);
    finish += "  workgroupBarrier();\n";
    for (std::uint32_t at = first; at < end; ++at)
      for (std::uint32_t kind = 0; kind < kinds; ++kind)
        finish += weft::format(
            "  subgroupMatrixStore<row_major>(&stage, mine + {}u * PATCH, s{}_{}, MATRIX_N / "
            "4u);\n",
            (at - first) * kinds + kind, at / outputs_across,
            at % outputs_across + kind * outputs_across);
    finish += "  workgroupBarrier();\n";
    for (std::uint32_t at = first; at < end; ++at)
      finish += weft::format(
          "  finish_patch(first_row + subgroup_row + {}u, first + subgroup % SUBGROUPS_ACROSS * "
          "SUBGROUP_OUTPUTS + {}u, shift, mine + {}u * PATCH, lane);\n",
          at / outputs_across * tuning.matrix_m, at % outputs_across * tuning.matrix_n,
          (at - first) * kinds);
  }

  // If the next step is loaded ahead, there is no branch between the load and its use. Drivers
  // would move the load after such a branch, and each step would then wait for memory.
  const std::string steps =
      tuning.ahead ? "  for (var k = begin + DEPTH; k < end; k += DEPTH) {\n" + carried.fetch() +
                         multiply + "    workgroupBarrier();\n" + carried.put() +
                         "    workgroupBarrier();\n  }\n  {\n" + multiply + "  }\n"
                   : "  var next = begin;\n  loop {\n" + multiply +
                         "    next += DEPTH;\n    if (next >= end) { break; }\n    let k = next;\n"
                         "    workgroupBarrier();\n" +
                         carried.fetch() + carried.put() + "    workgroupBarrier();\n  }\n";
  std::string text(wgsl::matmul_matrices_wgsl);
  replace_mark(text, "//@sums\n", sums);
  replace_mark(text, "//@places\n", carried.places());
  replace_mark(text, "//@put\n", carried.put());
  replace_mark(text, "//@fetch\n", carried.fetch());
  replace_mark(text, "//@steps\n", steps);
  replace_mark(text, "//@finish\n", finish);
  return text;
}

}  // namespace weft::kernels
