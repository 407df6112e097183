// Four signed bytes of a word times four of another, where the language has no dot4I8Packed.
fn dot4(x: u32, y: u32) -> i32 {
  let a = bitcast<i32>(x);
  let b = bitcast<i32>(y);
  return extractBits(a, 0u, 8u) * extractBits(b, 0u, 8u) + extractBits(a, 8u, 8u) * extractBits(b, 8u, 8u) +
         extractBits(a, 16u, 8u) * extractBits(b, 16u, 8u) + extractBits(a, 24u, 8u) * extractBits(b, 24u, 8u);
}
