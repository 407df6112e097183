@group(0) @binding(0) var<storage, read> x: array<vec4f>;
fn whole(row: u32, i: u32) -> vec4f { return x[row * QUARTERS + i]; }
