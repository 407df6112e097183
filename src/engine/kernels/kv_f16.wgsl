alias KvCell = vec2u;
fn key_at(i: u32) -> vec4f { return vec4f(unpack2x16float(keys[i].x), unpack2x16float(keys[i].y)); }
fn value_at(i: u32) -> vec4f { return vec4f(unpack2x16float(values[i].x), unpack2x16float(values[i].y)); }
