struct BatchSize { rows: u32, segments: u32, unused: vec2u }

@group(1) @binding(0) var<storage, read> x: array<XCell>;
@group(1) @binding(2) var<storage, read> bias: array<f32>;
@group(1) @binding(3) var<uniform> batch: BatchSize;
