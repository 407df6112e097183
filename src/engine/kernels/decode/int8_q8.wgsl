const HAS_OFFSET = false;
fn quant16(row: u32, lane: u32) -> vec4u { return quants[row * LANES + lane]; }
fn scale16(row: u32, lane: u32) -> vec2f {
  let pair = unpack2x16float(scales[row * ((LANES + 3u) / 4u) + lane / 4u]);
  return vec2f(select(pair.x, pair.y, (lane & 2u) != 0u), 0.0);
}
