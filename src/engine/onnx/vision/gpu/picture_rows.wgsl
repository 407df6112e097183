// A picture resized along its columns, placed on grey, as a detector's input: (level - mean) * scale,
// three planes of f32.
//
// shares: as in picture_columns.wgsl, with for each row of the placed part its first row, how many, and
// where their weights begin. The first four numbers are not used here.
struct Place {
  width: u32,  // The input's.
  height: u32,
  left: u32,  // The part that the picture takes.
  top: u32,
  part_width: u32,
  part_height: u32,
  blue_first: u32,
  grey: f32,
  mean: f32,
  scale: f32,
}
@group(0) @binding(0) var<storage, read> picture: array<u32>;  // [rows][part_width], red lowest.
@group(0) @binding(1) var<storage, read> shares: array<u32>;
@group(0) @binding(2) var<storage, read> place: Place;
@group(0) @binding(3) var<storage, read_write> result: array<f32>;  // [3][height][width]

fn levels(pixel: u32) -> vec3f {
  return vec3f(f32(pixel & 255u), f32((pixel >> 8u) & 255u), f32((pixel >> 16u) & 255u));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= place.width) { return; }
  // Left of and above the part these are large.
  let x = id.x - place.left;
  let y = id.y - place.top;
  var colour = vec3f(place.grey);
  if (x < place.part_width && y < place.part_height) {
    let about = 4u + 3u * y;
    var sum = vec3f();
    for (var k = 0u; k < shares[about + 1u]; k++) {
      let pixel = picture[(shares[about] + k) * place.part_width + x];
      sum += bitcast<f32>(shares[shares[about + 2u] + k]) * levels(pixel);
    }
    colour = clamp(floor(sum + 0.5), vec3f(), vec3f(255));
  }
  if (place.blue_first != 0u) { colour = colour.zyx; }
  let plane = place.width * place.height;
  let at = id.y * place.width + id.x;
  let value = (colour - place.mean) * place.scale;
  result[at] = value.x;
  result[plane + at] = value.y;
  result[2u * plane + at] = value.z;
}
