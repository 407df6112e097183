const HAS_OFFSET = true;
fn quant16(row: u32, lane: u32) -> vec4u { return quants[row * LANES + lane]; }
fn scale16(row: u32, lane: u32) -> vec2f { return unpack2x16float(scales[row * (LANES / 2u) + lane / 2u]); }
