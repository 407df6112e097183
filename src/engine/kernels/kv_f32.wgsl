alias KvCell = vec4f;
fn key_at(i: u32) -> vec4f { return keys[i]; }
fn value_at(i: u32) -> vec4f { return values[i]; }
