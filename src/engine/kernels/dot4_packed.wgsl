requires packed_4x8_integer_dot_product;
fn dot4(x: u32, y: u32) -> i32 { return dot4I8Packed(x, y); }
