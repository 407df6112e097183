#include "engine/onnx/gpu/window_text.h"

namespace weft::onnx {

std::string window_loops(const Window& w, std::string_view inside) {
  std::string text, close;
  const Shape in = row_major_strides(w.input), out = row_major_strides(w.output);
  std::string place = "0", kernel = "0u";
  for (std::size_t d = 0; d < w.kernel.size(); ++d) {
    text += weft::format("  let base{0} = i32(at / {1}u % {2}u) * {3} - {4};\n", d, out[d],
                         w.output[d], w.strides[d], w.pads_before[d]);
  }
  const Shape k = row_major_strides(w.kernel);
  for (std::size_t d = 0; d < w.kernel.size(); ++d) {
    text += weft::format(
        "  for (var k{0} = 0; k{0} < {1}; k{0}++) {{\n  let p{0} = base{0} + k{0} * {2};\n"
        "  if (p{0} < 0 || p{0} >= {3}) {{ continue; }}\n",
        d, w.kernel[d], w.dilations[d], w.input[d]);
    place += weft::format(" + p{} * {}", d, in[d]);
    kernel += weft::format(" + u32(k{}) * {}u", d, k[d]);
    close += "  }\n";
  }
  text += weft::format("  let place = u32({});\n  let tap = {};\n", place, kernel);
  text.append(inside);
  return text + close;
}

}  // namespace weft::onnx
