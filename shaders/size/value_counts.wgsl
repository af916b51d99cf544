// In the byte profile a record says how long its value is, unless all values of the output are equally long.

// The binding is past those of any pass.
@group(0) @binding(13) var<storage, read> extremes: array<u32>;

// Bits that a record of the output spends on how long its value is.
fn value_count_len(value_bits: u32) -> u32 {
    return select(count_len(value_bits / UNIT), 0u, extremes[0] == ~extremes[1]);
}
