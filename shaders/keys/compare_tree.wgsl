// Compares keys through the tree alone. compare_windows.wgsl declares the same function for passes that have windows.

// Compares the keys of two records that share their first `known` bits, and the prefix.
fn compare_keys(a: u32, b: u32, known: u32) -> Comparison {
    return compare_bits(a, b, max(known, 8u * prefix[0]));
}
