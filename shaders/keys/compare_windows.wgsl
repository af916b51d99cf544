// Compares keys by their windows, and through the tree where windows are equal. compare_tree.wgsl declares the same
// function for passes without windows.

// The binding is past those of any pass.
@group(0) @binding(15) var<storage, read> windows: array<vec2<u32>>;

// Compares the keys of two records that share their first `known` bits, and the prefix.
//
// Past the end of a key its window is zero. That never puts the shorter of two keys behind the longer one.
fn compare_keys(a: u32, b: u32, known: u32) -> Comparison {
    let start = 8u * prefix[0];
    let end = start + 64u;
    if known < end {
        let a_window = windows[a];
        let b_window = windows[b];
        if a_window.x != b_window.x {
            let same = start + countLeadingZeros(a_window.x ^ b_window.x);
            return Comparison(shared_at_most(same, a, b), order_of(a_window.x, b_window.x));
        }
        if a_window.y != b_window.y {
            let same = start + 32u + countLeadingZeros(a_window.y ^ b_window.y);
            return Comparison(shared_at_most(same, a, b), order_of(a_window.y, b_window.y));
        }
    }
    return compare_bits(a, b, max(known, end));
}

fn shared_at_most(bits: u32, a: u32, b: u32) -> u32 {
    return min(bits, min(key_bits[a], key_bits[b]));
}
