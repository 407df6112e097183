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

constexpr std::uint32_t key_threads = 8;  // The number of threads that read a key together.

}  // namespace

bool team_attention_possible(const TeamAttentionShape& shape) {
  // The most numbers that a thread holds of the outputs of all heads, and of their queries.
  constexpr std::uint32_t numbers_max = 64, query_max = 128;
  const std::uint32_t fours = shape.dim / 4;
  return std::has_single_bit(shape.dim) && std::has_single_bit(shape.team) && fours >= 8 &&
         shape.team >= 8 && std::max(1u, fours / shape.team) * 4 * shape.group <= numbers_max &&
         fours / key_threads * 4 * shape.group <= query_max;
}

namespace {

// The statements that compute scores: keys are loaded and multiplied with the queries of all heads,
// and the sums of a key's threads are combined so that thread i has the scores s0, s1, ... of
// position i.
std::string scores_text(const TeamAttentionShape& shape) {
  const std::uint32_t cells = shape.dim / 4 / key_threads;
  constexpr std::uint32_t asked_max = 16;  // The most cells that a thread loads at a time.
  const std::uint32_t batch = std::clamp(asked_max / cells, 1u, key_threads);
  std::string out;
  for (std::uint32_t first = 0; first < key_threads; first += batch) {
    for (std::uint32_t s = first; s < first + batch; ++s) {
      out += weft::format("      let kr{0} = subgroupShuffle(mine, lane - own + {0}u) + own;\n", s);
      for (std::uint32_t c = 0; c < cells; ++c)
        out += weft::format("      let k{0}_{1} = key_at(kr{0} + {2}u);\n", s, c, c * key_threads);
    }
    for (std::uint32_t s = first; s < first + batch; ++s) {
      for (std::uint32_t h = 0; h < shape.group; ++h) {
        out += weft::format("      var p{0}_{1} = dot(q{1}_0, k{0}_0);\n", s, h);
        for (std::uint32_t c = 1; c < cells; ++c)
          out += weft::format("      p{0}_{1} += dot(q{1}_{2}, k{0}_{2});\n", s, h, c);
      }
    }
  }
  for (std::uint32_t half = key_threads / 2; half > 0; half /= 2) {
    out += weft::format("      let upper{0} = (own & {0}u) != 0u;\n", half);
    for (std::uint32_t s = 0; s < half; ++s)
      for (std::uint32_t h = 0; h < shape.group; ++h)
        out += weft::format(
            "      p{0}_{2} = select(p{0}_{2}, p{1}_{2}, upper{3}) + "
            "subgroupShuffleXor(select(p{1}_{2}, p{0}_{2}, upper{3}), {3}u);\n",
            s, s + half, h, half);
  }
  for (std::uint32_t h = 0; h < shape.group; ++h)
    out += weft::format("      let s{0} = p0_{0};\n", h);
  return out;
}

}  // namespace

std::string team_attention_text(const TeamAttentionShape& shape) {
  const std::uint32_t fours = shape.dim / 4, cells = std::max(1u, fours / shape.team),
                      parts = std::max(1u, shape.team / fours), steps = shape.team / parts;
  std::string query, begin, weights, gather, join, write, stats;
  for (std::uint32_t h = 0; h < shape.group; ++h) {
    for (std::uint32_t c = 0; c < fours / key_threads; ++c)
      query +=
          weft::format("  let q{}_{} = query[{}u + own];\n", h, c, h * fours + c * key_threads);
    begin += weft::format("    var top{} = LOWEST;\n    var sum{} = 0.0;\n", h, h);
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
  // Several positions are loaded before the first is used.
  constexpr std::uint32_t ahead_max = 16;
  const std::uint32_t ahead = std::max(1u, std::min(ahead_max / cells, steps));
  for (std::uint32_t step = 0; step < steps; step += ahead) {
    for (std::uint32_t i = step; i < step + ahead; ++i) {
      gather += weft::format("      let r{0} = subgroupShuffle(mine, {1}u + part) + four;\n", i,
                             i * parts);
      for (std::uint32_t c = 0; c < cells; ++c)
        gather +=
            weft::format("      let v{0}_{1} = value_at(r{0} + {2}u);\n", i, c, c * shape.team);
    }
    for (std::uint32_t i = step; i < step + ahead; ++i) {
      for (std::uint32_t h = 0; h < shape.group; ++h) {
        gather += weft::format("      let w{0}_{1} = subgroupShuffle(w{1}, {2}u + part);\n", i, h,
                               i * parts);
        for (std::uint32_t c = 0; c < cells; ++c)
          gather += weft::format("      g{1}_{2} += w{0}_{1} * v{0}_{2};\n", i, h, c);
      }
    }
  }
  std::string out(weft::format("const KEY_THREADS = {}u;\n", key_threads));
  out += wgsl::team_attention_wgsl;
  put(out, "@QUERY\n", query);
  put(out, "@BEGIN\n", begin);
  put(out, "@KEYS\n", scores_text(shape));
  put(out, "@WEIGHTS\n", weights);
  put(out, "@GATHER\n", gather);
  put(out, "@JOIN\n", join);
  put(out, "@WRITE\n", write);
  put(out, "@STATS\n", stats);
  return out;
}

}  // namespace weft::kernels
