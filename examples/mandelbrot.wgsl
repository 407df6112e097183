// The Mandelbrot set in fixed point: Q4.28 numbers in i32, so that every GPU gives the same bytes.
//
// Each pixel counts the steps of z = z * z + c until |z| > 2, at most max_iter. While |z| <= 2, squares are at most 4 and the next z
// at most 4 + 2.5 in each part: all within Q4.28's 8.

struct Weft { origin: vec3u, extent: vec3u }
@group(1) @binding(0) var<uniform> weft: Weft;

@group(0) @binding(0) var<uniform> region: vec4i;  // left, right, top, bottom
@group(0) @binding(1) var<storage, read_write> iterations: array<u32>;  // this task's rows

override max_iter: u32 = 500;
const size = 1024u;  // pixels along each side
const two = 2u << 28u;

// The upper bits of a 64-bit product from 32-bit ones: (a * b) >> 28, rounded towards zero.
fn multiply_magnitudes(a: u32, b: u32) -> u32 {
  let a_low = a & 0xffffu;
  let a_high = a >> 16u;
  let b_low = b & 0xffffu;
  let b_high = b >> 16u;
  let low_high = a_low * b_high;
  let high_low = a_high * b_low;
  let middle = ((a_low * b_low) >> 16u) + (low_high & 0xffffu) + (high_low & 0xffffu);
  let high = a_high * b_high + (low_high >> 16u) + (high_low >> 16u) + (middle >> 16u);
  return (high << 4u) | ((a * b) >> 28u);
}

fn multiply(a: i32, b: i32) -> i32 {
  let magnitude = i32(multiply_magnitudes(u32(abs(a)), u32(abs(b))));
  return select(magnitude, -magnitude, (a < 0) != (b < 0));
}

// from + (to - from) * index / size, without leaving 32 bits: the step is rounded towards zero.
fn coordinate(start: i32, end: i32, index: u32) -> i32 { return start + ((end - start) / i32(size)) * i32(index); }

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) local: vec3u) {
  let pixel = local + weft.origin;
  let c = vec2i(coordinate(region.x, region.y, pixel.x), coordinate(region.z, region.w, pixel.y));
  var z = vec2i(0, 0);
  var count = 0u;
  while (count < max_iter) {
    let magnitude = vec2u(abs(z));
    if (magnitude.x > two || magnitude.y > two) { break; }
    let x_squared = multiply_magnitudes(magnitude.x, magnitude.x);
    let y_squared = multiply_magnitudes(magnitude.y, magnitude.y);
    if (x_squared + y_squared > 2u * two) { break; }
    z = vec2i(i32(x_squared) - i32(y_squared), 2 * multiply(z.x, z.y)) + c;
    count++;
  }
  iterations[local.y * size + local.x] = count;
}
