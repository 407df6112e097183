const HAS_OFFSET = true;
fn quant16(row: u32, lane: u32) -> vec4u {
  let q = quants[row * LANES + lane];
  return vec4u(q.x, q.x >> 4u, q.y, q.y >> 4u) & vec4u(0x0f0f0f0fu);
}
fn scale16(row: u32, lane: u32) -> vec2f { return unpack2x16float(scales[row * (LANES / 2u) + lane / 2u]); }
