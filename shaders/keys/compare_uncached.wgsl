// Compares keys from the common prefix on, without windows. compare_windows.wgsl declares the same functions for passes
// that have windows.

// Compares the keys of two records that share their first `known` bits, and the prefix.
fn compare_keys(a: u32, b: u32, known: u32) -> Comparison {
    return compare_bits(a, b, max(known, 8u * prefix[0]));
}

// The same for a search, where some of the shared bits will do.
fn compare_order(a: u32, b: u32, known: u32) -> Comparison {
    return compare_keys(a, b, known);
}
