alias KvCell = u32;
fn signed_cell(word: u32) -> vec4f { return vec4f(vec4i(vec4u(word) << vec4u(24u, 16u, 8u, 0u)) >> vec4u(24u)); }
fn key_at(i: u32) -> vec4f { return signed_cell(keys[i]) * bitcast<f32>(keys[KV_SCALES + i / 8u]); }
fn value_at(i: u32) -> vec4f { return signed_cell(values[i]) * bitcast<f32>(values[KV_SCALES + i / 8u]); }
