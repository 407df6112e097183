// The rows that weights are multiplied with, quantized by the kernel that made them.
@group(1) @binding(0) var<storage, read> x_quants: array<vec4u>;
@group(1) @binding(1) var<storage, read> x_scales: array<vec2f>;

fn prepare(index: u32, team: u32, lane: u32) {}
fn x16(b: u32, lane: u32) -> vec4u { return x_quants[(first_row + b) * LANES + lane]; }
fn x_scale(b: u32, lane: u32) -> vec2f { return x_scales[(first_row + b) * LANES + lane]; }
fn row_factor(b: u32) -> f32 { return 1.0; }
