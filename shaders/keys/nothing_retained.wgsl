// Keys of which nothing is known besides. retained.wgsl declares the same function for passes that know more.

// Bits that a key is known to share with the one before it in its input.
fn inherited(record: u32) -> u32 {
    return 0u;
}
