// Compares keys by their windows, and through the tree where windows are equal. compare_uncached.wgsl declares the same
// functions for passes without windows.
//
// Past the end of a key its window is zero. That never puts the shorter of two keys behind the longer one.

// The binding is past those of any pass.
@group(0) @binding(15) var<storage, read> windows: array<vec2<u32>>;

// Compares the keys of two records that share their first `known` bits, and the prefix.
fn compare_keys(a: u32, b: u32, known: u32) -> Comparison {
    let start = 8u * prefix[0];
    if known < start + 64u {
        let differing = windows[a] ^ windows[b];
        if any(differing != vec2<u32>(0u)) {
            let in_first = differing.x != 0u;
            let same = countLeadingZeros(select(differing.y, differing.x, in_first)) + select(32u, 0u, in_first);
            let shorter = min(key_bits[a], key_bits[b]);
            return Comparison(min(start + same, shorter), order_of_windows(windows[a], windows[b]));
        }
    }
    return compare_bits(a, b, max(known, start + 64u));
}

// The same for a search, where some of the shared bits will do: none where windows decide, so that lengths are not read.
fn compare_order(a: u32, b: u32, known: u32) -> Comparison {
    let end = 8u * prefix[0] + 64u;
    if known < end {
        let order = order_of_windows(windows[a], windows[b]);
        if order != 0i {
            return Comparison(0u, order);
        }
    }
    return compare_bits(a, b, max(known, end));
}

fn order_of_windows(a: vec2<u32>, b: vec2<u32>) -> i32 {
    return select(order_of(a.x, b.x), order_of(a.y, b.y), a.x == b.x);
}
