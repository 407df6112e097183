// @compute @workgroup_size(9) fn main() {}
override wg: u32 = 8u * (2 + 6) / 4; @id(7) override h: u32;
const n = 0x10;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
fn helper(x: u32) -> u32 { if (x > 1u) { return x; } return 0u; }
@compute @workgroup_size(wg, h, n % 5,) /* /* nested */ */
fn main(@builtin(global_invocation_id) id: vec3u) { out[id.x] = helper(id.x); }
