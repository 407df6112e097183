// How many positions a workgroup of an attention takes, and how many workgroups have some.
fn share_of(position: u32) -> u32 { return max(SHARE_MIN, (position + SPLITS - 1u) / SPLITS); }
fn shares_of(position: u32) -> u32 { return (position + share_of(position) - 1u) / share_of(position); }
