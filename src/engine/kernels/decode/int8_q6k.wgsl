const HAS_OFFSET = false;
fn quant16(row: u32, lane: u32) -> vec4u { return quants[row * LANES + lane]; }
fn scale16(row: u32, lane: u32) -> vec2f {
  let at = (row * (LANES / 16u) + lane / 16u) * 5u;
  let in_word = i32(scales[at + 1u + (lane & 15u) / 4u] << (24u - 8u * (lane & 3u))) >> 24u;
  return vec2f(unpack2x16float(scales[at]).x * f32(in_word), 0.0);
}
