// Four numbers of x with what a product adds to them, in the order of matmul_sum.wgsl; they stay in x.
struct BatchSize { rows: u32, segments: u32, unused: vec2u }

@group(0) @binding(0) var<storage, read_write> x: array<vec4f>;
@group(0) @binding(3) var<storage, read> partials: array<vec4f>;  // [split][row][column]
@group(0) @binding(4) var<uniform> batch: BatchSize;

fn whole(row: u32, i: u32) -> vec4f {
  var sum = vec4f();
  for (var split = 0u; split < SPLITS; split++) { sum += partials[(split * batch.rows + row) * QUARTERS + i]; }
  sum += x[row * QUARTERS + i];
  x[row * QUARTERS + i] = sum;
  return sum;
}
