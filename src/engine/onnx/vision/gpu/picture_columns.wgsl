// A picture resized along its rows. Each pixel of the result is a sum of neighbours with weights,
// rounded to a byte for each colour, as the plain loops of picture.cpp do it.
//
// shares: width of the result, its height, pixels between rows of the picture, 1 if a pixel takes
// three bytes and not four; then for each
// column of the result its first pixel, how many, and where their weights (f32) begin.
@group(0) @binding(0) var<storage, read> picture: array<u32>;  // [rows][pixels], red lowest or first.
@group(0) @binding(1) var<storage, read> shares: array<u32>;
@group(0) @binding(2) var<storage, read_write> result: array<u32>;

fn levels(pixel: u32) -> vec3f {
  return vec3f(f32(pixel & 255u), f32((pixel >> 8u) & 255u), f32((pixel >> 16u) & 255u));
}

// The eight highest bits are anything.
fn pixel_at(at: u32) -> u32 {
  if (shares[3] == 0u) { return picture[at]; }
  let word = 3u * at / 4u;
  let shift = 8u * (3u * at % 4u);
  let low = picture[word] >> shift;
  if (shift < 16u) { return low; }
  return low | (picture[word + 1u] << (32u - shift));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= shares[0]) { return; }
  let about = 4u + 3u * id.x;
  let first = id.y * shares[2] + shares[about];
  var sum = vec3f();
  for (var k = 0u; k < shares[about + 1u]; k++) {
    sum += bitcast<f32>(shares[shares[about + 2u] + k]) * levels(pixel_at(first + k));
  }
  let rounded = vec3u(clamp(floor(sum + 0.5), vec3f(), vec3f(255)));
  result[id.y * shares[0] + id.x] = rounded.x | (rounded.y << 8u) | (rounded.z << 16u);
}
