// The Elias-Fano entries of an output: where each block of 15 records starts, without the common bits of the values
// before, and at last where the payload ends.

// Entries in a group that has a sample, and the span from which on its positions are listed.
const SAMPLED: u32 = 256u;
const SPARSE_SPAN: u32 = 4096u;

fn entry_count() -> u32 {
    return ceil_div(survivors(), 15u) + 1u;
}

fn entry(j: u32) -> u32 {
    let records = min(15u * j, survivors());
    var start = payload_extent();
    if records < survivors() {
        start = offsets[records];
    }
    return start - records * common_width();
}

// The lowest bits of an entry, which the lows hold.
fn low_bits(j: u32) -> u32 {
    return extractBits(entry(j), 0u, low_width());
}

// The bit of the highs that stands for an entry. Positions ascend.
fn position(j: u32) -> u32 {
    return (entry(j) >> low_width()) + j;
}
