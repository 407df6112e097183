// Quantizing where every thread holds four numbers and eight neighbours of a subgroup a block of 32. The first of every four
// threads gets the lane of 16.
struct QuantizedLane { quants: vec4u, scale: vec2f }

fn quantize_four(v: vec4f) -> QuantizedLane {
  let four = abs(v);
  var most = max(max(four.x, four.y), max(four.z, four.w));
  most = max(most, subgroupShuffleXor(most, 1u));
  most = max(most, subgroupShuffleXor(most, 2u));
  most = max(most, subgroupShuffleXor(most, 4u));
  let inverse = select(0.0, 127.0 / most, most > 0.0);
  let q = round(v * inverse);
  let word = pack_bytes(q);
  var sum = q.x + q.y + q.z + q.w;
  sum += subgroupShuffleXor(sum, 1u);
  sum += subgroupShuffleXor(sum, 2u);
  let scale = most / 127.0;
  return QuantizedLane(vec4u(word, subgroupShuffleXor(word, 1u), subgroupShuffleXor(word, 2u), subgroupShuffleXor(word, 3u)),
                       vec2f(scale, scale * sum));
}
