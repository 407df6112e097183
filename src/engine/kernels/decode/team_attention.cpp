#include "engine/kernels/decode/team_attention.h"

#include <algorithm>
#include <bit>

#include "common/base/check.h"
#include "common/base/format.h"
#include "engine/kernels/decode/team_attention.wgsl.h"

namespace weft::kernels {
namespace {

void put(std::string& text, std::string_view mark, std::string_view lines) {
  const std::size_t at = text.find(mark);
  check(at != std::string::npos, "the attention has the lines that are replaced");
  text.replace(at, mark.size(), lines);
}

}  // namespace

bool team_attention_possible(const TeamAttentionShape& shape) {
  constexpr std::uint32_t numbers_max = 64;  // What a thread gathers for all heads.
  const std::uint32_t fours = shape.dim / 4;
  return std::has_single_bit(shape.dim) && std::has_single_bit(shape.team) && fours >= 8 &&
         std::max(1u, fours / shape.team) * 4 * shape.group <= numbers_max;
}

std::string team_attention_text(const TeamAttentionShape& shape) {
  const std::uint32_t fours = shape.dim / 4, cells = std::max(1u, fours / shape.team),
                      parts = std::max(1u, shape.team / fours), steps = shape.team / parts;
  std::string begin, scores, score, weights, gather, join, write, stats;
  for (std::uint32_t h = 0; h < shape.group; ++h) {
    begin += weft::format("    var top{} = LOWEST;\n    var sum{} = 0.0;\n", h, h);
    scores += weft::format("      var s{} = 0.0;\n", h);
    score += weft::format("        s{} += dot(query[{}u + c], k);\n", h, h * fours);
    weights += weft::format(
        "      let best{0} = max(top{0}, team_max(select(LOWEST, s{0}, valid), index));\n"
        "      let w{0} = select(0.0, exp(s{0} - best{0}), valid);\n"
        "      let shrink{0} = exp(top{0} - best{0});\n"
        "      sum{0} = sum{0} * shrink{0} + team_sum(w{0}, index);\n"
        "      top{0} = best{0};\n",
        h);
    for (std::uint32_t c = 0; c < cells; ++c) {
      begin += weft::format("    var g{}_{} = vec4f();\n", h, c);
      weights += weft::format("      g{0}_{1} *= shrink{0};\n", h, c);
      for (std::uint32_t half = fours; half < shape.team; half *= 2)
        join += weft::format("    g{0}_{1} += subgroupShuffleXor(g{0}_{1}, {2}u);\n", h, c, half);
      write += weft::format(
          "      shares[share_at(row, kv_head, {0}u, split) + four + {2}u] = g{0}_{1};\n", h, c,
          c * shape.team);
    }
    stats += weft::format(
        "      shares[share_at(row, kv_head, {0}u, split) + FOURS] = vec4f(top{0}, sum{0}, 0.0, "
        "0.0);\n",
        h);
  }
  // Several positions are asked for before the first is used.
  constexpr std::uint32_t ahead_max = 8;
  const std::uint32_t ahead = std::max(1u, std::min(ahead_max / cells, steps));
  for (std::uint32_t step = 0; step < steps; step += ahead) {
    gather += "      {\n";
    for (std::uint32_t i = 0; i < ahead; ++i) {
      gather += weft::format("        let p{} = {}u + part;\n", i, (step + i) * parts);
      gather += weft::format("        let r{0} = subgroupShuffle(mine, p{0}) + four;\n", i);
      for (std::uint32_t c = 0; c < cells; ++c)
        gather +=
            weft::format("        let v{0}_{1} = value_at(r{0} + {2}u);\n", i, c, c * shape.team);
    }
    for (std::uint32_t i = 0; i < ahead; ++i) {
      for (std::uint32_t h = 0; h < shape.group; ++h) {
        gather += weft::format("        let w{0}_{1} = subgroupShuffle(w{1}, p{0});\n", i, h);
        for (std::uint32_t c = 0; c < cells; ++c)
          gather += weft::format("        g{1}_{2} += w{0}_{1} * v{0}_{2};\n", i, h, c);
      }
    }
    gather += "      }\n";
  }
  std::string out(wgsl::team_attention_wgsl);
  put(out, "@BEGIN\n", begin);
  put(out, "@SCORES\n", scores);
  put(out, "@SCORE\n", score);
  put(out, "@WEIGHTS\n", weights);
  put(out, "@GATHER\n", gather);
  put(out, "@JOIN\n", join);
  put(out, "@WRITE\n", write);
  put(out, "@STATS\n", stats);
  return out;
}

}  // namespace weft::kernels
