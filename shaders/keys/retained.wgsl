// What records say about the key before theirs. nothing_retained.wgsl declares the same function for passes that are not told.

// The binding is past those of any pass.
@group(0) @binding(12) var<storage, read> retained: array<u32>;

// Bits that a key is known to share with the one before it in its input.
fn inherited(record: u32) -> u32 {
    return retained[record];
}
