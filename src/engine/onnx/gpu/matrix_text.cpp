#include "engine/onnx/gpu/matrix_text.h"

#include "engine/onnx/operators/walk.h"

namespace weft::onnx {

std::string MatrixText::types() const {
  return weft::format(
      "alias Left = subgroup_matrix_left<f16, {2}, {0}>;\n"
      "alias Right = subgroup_matrix_right<f16, {1}, {2}>;\n"
      "alias Sum = subgroup_matrix_result<f32, {1}, {0}>;\n",
      p_.unit.m, p_.unit.n, p_.unit.k);
}

std::string MatrixText::places() const {
  const std::int64_t tiles = p_.tiles_of_plane(),
                     parts = p_.threads / p_.unit.subgroup / p_.tiles.slices;
  std::string text = weft::format(
      "  let tile = group % {0}u;\n  let block = group / {0}u % {1}u;\n"
      "  let image = group / {2}u;\n"
      "  let slice = subgroup / {3}u;\n  let part_row = subgroup % {3}u / {4}u * {5}u;\n"
      "  let part_column = subgroup % {4}u * {6}u;\n",
      tiles, p_.blocks(), tiles * p_.blocks(), parts, p_.parts_across, p_.part_rows,
      p_.part_columns);
  // The first weights and inputs of the subgroup.
  text += weft::format(
      "  let left = ((block * {0}u + part_row) / {1}u * {2}u + slice * {3}u) * {4}u;\n"
      "  let right = slice * {5}u + part_column / 2u;\n",
      p_.tiles.channels, p_.unit.m, p_.steps * p_.tiles.depth / p_.unit.k, depths(),
      p_.unit.m * p_.unit.k, depths() * p_.unit.k * p_.pitch);
  text += weft::format(
      "  let column = lane % {0}u;\n  let row = lane / {0}u;\n"
      "  let input_base = image * {1}u;\n  let put = row * {2}u + column * {3}u;\n",
      p_.across, p_.plan.channels_in * p_.in_plane / (p_.fours ? 4 : 1), p_.pitch, p_.together / 2);
  if (p_.fours) {
    text += weft::format(
        "  let at = tile * {0}u + column;\n  let fits = at < {1}u;\n"
        "  let place = min(at, {2}u);\n",
        p_.across, p_.in_plane / 4, p_.in_plane / 4 - 1);
  } else {
    const Window& w = p_.plan.window;
    const Shape out = row_major_strides(w.output);
    for (std::int64_t t = 0; t < 2; ++t) {
      text +=
          weft::format("  let at_{0} = tile * {1}u + column * 2u + {0}u;\n", t, p_.tiles.places);
      for (std::size_t d = 0; d < w.kernel.size(); ++d)
        text += weft::format("  let base{0}_{1} = i32(at_{1} / {2}u % {3}u) * {4} - {5};\n", d, t,
                             out[d], w.output[d], w.strides[d], w.pads_before[d]);
    }
  }
  for (std::int64_t i = 0; i < p_.part_rows / p_.unit.m; ++i)
    for (std::int64_t j = 0; j < p_.part_columns / p_.unit.n; ++j)
      text += weft::format("  var sum_{}_{} = Sum();\n", i, j);
  return text;
}

std::string MatrixText::steps() const {
  std::string text = "  {\n  let s = 0u;\n" + fetch() + put() + "  }\n  workgroupBarrier();\n";
  if (p_.steps > 1)
    text += weft::format("  for (var s = 1u; s < {}u; s++) {{\n  let step = s - 1u;\n", p_.steps) +
            lefts() + fetch() + products() + "  workgroupBarrier();\n" + put() +
            "  workgroupBarrier();\n  }\n";
  return text + weft::format("  {{\n  let step = {}u;\n", p_.steps - 1) + lefts() + products() +
         "  }\n";
}

std::string MatrixText::results(std::string_view inside) const {
  std::string text = "  workgroupBarrier();\n";
  for (std::int64_t i = 0; i < p_.part_rows / p_.unit.m; ++i)
    for (std::int64_t j = 0; j < p_.part_columns / p_.unit.n; ++j)
      text += weft::format(
          "  subgroupMatrixStore<row_major>(&stage, (slice * {0}u + part_row + {1}u) * {2}u + "
          "part_column + {3}u, sum_{4}_{5}, {2}u);\n",
          p_.tiles.channels, i * p_.unit.m, p_.sum_pitch, j * p_.unit.n, i, j);
  text += weft::format(
      "  workgroupBarrier();\n  for (var e = lane; e < {0}u; e += {1}u) {{\n"
      "  let place_out = block * {2}u + e / {3}u;\n  let at = tile * {3}u + e % {3}u;\n",
      p_.tiles.channels * p_.tiles.places, p_.threads, p_.tiles.channels, p_.tiles.places);
  if (p_.plan.channels_out % p_.tiles.channels != 0 || p_.out_plane % p_.tiles.places != 0)
    text += weft::format("  if (place_out >= {}u || at >= {}u) {{ continue; }}\n",
                         p_.plan.channels_out, p_.out_plane);
  text += weft::format("  let first = e / {0}u * {1}u + e % {0}u;\n  var total = 0.0;\n",
                       p_.tiles.places, p_.sum_pitch);
  for (std::int64_t slice = 0; slice < p_.tiles.slices; ++slice)
    text += weft::format("  total += bitcast<f32>(stage[first + {}u]);\n",
                         slice * p_.tiles.channels * p_.sum_pitch);
  text += weft::format("  let o = (image * {}u + place_out) * {}u + at;\n", p_.plan.channels_out,
                       p_.out_plane);
  return text.append(inside) + "  }\n";
}

std::string MatrixText::lefts() const {
  std::string text;
  if (in_loop()) return text;
  for (std::int64_t d = 0; d < depths(); ++d)
    for (std::int64_t i = 0; i < p_.part_rows / p_.unit.m; ++i) text += left(i, d);
  return text;
}

std::string MatrixText::products() const {
  if (in_loop()) {
    std::string text = weft::format(
        "  for (var depth = 0u; depth < {}u; depth = (depth + 1u) | none) {{\n", depths());
    for (std::int64_t i = 0; i < p_.part_rows / p_.unit.m; ++i) text += left(i, 0);
    return text + products_of(0) + "  }\n";
  }
  std::string text;
  for (std::int64_t d = 0; d < depths(); ++d) text += products_of(d);
  return text;
}

std::string MatrixText::depth_text(std::int64_t d) const {
  return in_loop() ? std::string("depth") : weft::format("{}u", d);
}

std::string MatrixText::left(std::int64_t i, std::int64_t d) const {
  const std::int64_t size = p_.unit.m * p_.unit.k;
  return weft::format(
      "  let l{0}_{1} = subgroupMatrixLoad<Left, row_major>(&{2}, left + {3}u + (step * {4}u + "
      "{5}) * {6}u, {7}u);\n",
      i, d, factors_, i * (p_.steps * p_.tiles.depth / p_.unit.k) * size,
      p_.tiles.depth / p_.unit.k, depth_text(d), size, p_.unit.k);
}

std::string MatrixText::products_of(std::int64_t d) const {
  std::string text;
  for (std::int64_t j = 0; j < p_.part_columns / p_.unit.n; ++j) {
    text += weft::format(
        "  let r{0}_{1} = subgroupMatrixLoad<Right, row_major>(&stage, right + {2} * {3}u + "
        "{4}u, {5}u);\n",
        j, d, depth_text(d), p_.unit.k * p_.pitch, j * p_.unit.n / 2, p_.pitch);
    for (std::int64_t i = 0; i < p_.part_rows / p_.unit.m; ++i)
      text += weft::format(
          "  sum_{0}_{1} = subgroupMatrixMultiplyAccumulate(l{0}_{2}, r{1}_{2}, sum_{0}_{1});\n", i,
          j, d);
  }
  return text;
}

std::string MatrixText::fetch() const {
  if (p_.fours) return fetch_fours();
  return p_.mixed ? fetch_mixed() : fetch_taps();
}

std::string MatrixText::fetch_fours() const {
  const bool ragged = p_.plan.channels_in % p_.tiles.depth != 0,
             whole = p_.out_plane % p_.tiles.places == 0;
  std::string text = weft::format("  let channel = s * {}u + row;\n", p_.tiles.depth);
  for (std::int64_t i = 0; i < copies(); ++i) {
    const std::string number = weft::format("(channel + {}u)", i * p_.rows_at_once);
    std::string inside = whole ? "" : "fits";
    if (ragged)
      inside += weft::format("{}{} < {}u", whole ? "" : " && ", number, p_.plan.channels_in);
    const std::string value = weft::format(
        "f16_of4({}[input_base + {} * {}u + place])", in_,
        ragged ? weft::format("min({}, {}u)", number, p_.plan.channels_in - 1) : number,
        p_.in_plane / 4);
    text += inside.empty()
                ? weft::format("  let v{} = {};\n", i, value)
                : weft::format("  let v{} = select(vec4<f16>(), {}, {});\n", i, value, inside);
  }
  return text;
}

std::string MatrixText::tap_text(const std::string& suffix, const std::string& term_fits) const {
  const Window& w = p_.plan.window;
  const Shape in = row_major_strides(w.input);
  std::string text;
  for (std::int64_t t = 0; t < 2; ++t) {
    std::string from = "0u", fits = term_fits;
    if (p_.out_plane % p_.tiles.places != 0)
      fits += weft::format("{}at_{} < {}u", fits.empty() ? "" : " && ", t, p_.out_plane);
    for (std::size_t d = 0; d < w.kernel.size(); ++d) {
      text += weft::format("  let p{0}_{1}{2} = u32(base{0}_{1} + offset_{0}{2});\n", d, t, suffix);
      // A negative place is a large number as u32.
      fits += weft::format("{0}p{1}_{2}{3} < {4}u", fits.empty() ? "" : " && ", d, t, suffix,
                           w.input[d]);
      from += weft::format(" + p{}_{}{} * {}u", d, t, suffix, in[d]);
    }
    text += weft::format(
        "  let inside_{0}{1} = {2};\n  let from_{0}{1} = select(0u, {3}, inside_{0}{1});\n", t,
        suffix, fits, from);
  }
  return text;
}

std::string MatrixText::offsets(const std::string& tap, const std::string& suffix) const {
  const Window& w = p_.plan.window;
  const Shape k = row_major_strides(w.kernel);
  std::string text;
  for (std::size_t d = 0; d < w.kernel.size(); ++d)
    text += weft::format("  let offset_{0}{1} = i32({2} / {3}u % {4}u) * {5};\n", d, suffix, tap,
                         k[d], w.kernel[d], w.dilations[d]);
  return text;
}

std::string MatrixText::reads(std::int64_t i, const std::string& channel, const std::string& suffix,
                              const std::string& fits) const {
  std::string text =
      weft::format("  let plane_{} = input_base + {} * {}u;\n", i, channel, p_.in_plane);
  for (std::int64_t t = 0; t < 2; ++t)
    text += weft::format(
        "  let v{0}_{1} = select(f16(), f16_of({2}[plane_{0} + from_{1}{3}]), "
        "inside_{1}{3}{4});\n",
        i, t, in_, suffix, fits);
  return text;
}

std::string MatrixText::fetch_taps() const {
  const std::int64_t steps_of_tap = divided_up(p_.channels, p_.tiles.depth),
                     together = p_.taps_of_step, copies_of_tap = copies() / together;
  const bool ragged = p_.channels != p_.plan.channels_in;
  std::string text =
      weft::format("  let channel = s % {}u * {}u + row;\n", steps_of_tap, p_.tiles.depth);
  for (std::int64_t u = 0; u < together; ++u) {
    const std::string suffix = weft::format("_u{}", u), tap = "tap" + suffix;
    text += weft::format("  let {} = s / {}u * {}u + {}u;\n", tap, steps_of_tap, together, u);
    text += offsets(tap, suffix) + tap_text(suffix, p_.taps % together == 0
                                                        ? std::string()
                                                        : weft::format("{} < {}u", tap, p_.taps));
    for (std::int64_t i = 0; i < copies_of_tap; ++i) {
      const std::string number = weft::format("(channel + {}u)", i * p_.rows_at_once);
      text += reads(
          u * copies_of_tap + i,
          ragged ? weft::format("min({}, {}u)", number, p_.plan.channels_in - 1) : number, suffix,
          ragged ? weft::format(" && {} < {}u", number, p_.plan.channels_in) : std::string());
    }
  }
  return text;
}

std::string MatrixText::fetch_mixed() const {
  std::string text;
  for (std::int64_t i = 0; i < copies(); ++i) {
    const std::string suffix = weft::format("_i{}", i);
    text += weft::format("  let term_{} = s * {}u + row + {}u;\n", i, p_.tiles.depth,
                         i * p_.rows_at_once);
    text += offsets(weft::format("(term_{} / {}u)", i, p_.channels), suffix) +
            tap_text(suffix, p_.channels * p_.taps % p_.tiles.depth == 0
                                 ? std::string()
                                 : weft::format("term_{} < {}u", i, p_.channels * p_.taps)) +
            reads(i, weft::format("(term_{} % {}u)", i, p_.channels), suffix, "");
  }
  return text;
}

std::string MatrixText::put() const {
  std::string text;
  for (std::int64_t i = 0; i < copies(); ++i) {
    const std::int64_t at = i * p_.rows_at_once * p_.pitch;
    if (p_.fours)
      text += weft::format(
          "  let b{0} = bitcast<vec2u>(v{0});\n  stage[put + {1}u] = b{0}.x;\n"
          "  stage[put + {2}u] = b{0}.y;\n",
          i, at, at + 1);
    else
      text +=
          weft::format("  stage[put + {0}u] = bitcast<u32>(vec2<f16>(v{1}_0, v{1}_1));\n", at, i);
  }
  return text;
}

}  // namespace weft::onnx
