// How many positions before its own a row sees, how many of them a workgroup of an attention takes, and how many workgroups have some.
fn before(position: u32) -> u32 { return min(position, SEEN_BEFORE); }
fn share_of(position: u32) -> u32 { return max(SHARE_MIN, (before(position) + SPLITS - 1u) / SPLITS); }
fn shares_of(position: u32) -> u32 { return (before(position) + share_of(position) - 1u) / share_of(position); }
