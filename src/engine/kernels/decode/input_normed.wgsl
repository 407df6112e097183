// The rows that weights are multiplied with, rounded by norm_rows.wgsl, with the norm's factors.
@group(1) @binding(0) var<storage, read> x_quants: array<vec4u>;
@group(1) @binding(1) var<storage, read> x_scales: array<vec2f>;
@group(1) @binding(5) var<storage, read> x_factors: array<f32>;

fn prepare(index: u32, team: u32, lane: u32) {}
fn x16(b: u32, lane: u32) -> vec4u { return x_quants[(first_row + b) * LANES + lane]; }
fn x_scale(b: u32, lane: u32) -> vec2f { return x_scales[(first_row + b) * LANES + lane]; }
fn row_factor(b: u32) -> f32 { return x_factors[first_row + b]; }
