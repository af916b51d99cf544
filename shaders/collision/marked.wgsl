// What passes ask about the marks on older records: keys that a newer record has too. The pass declares `bitmap`: array<u32>,
// and what rank/query.wgsl needs.

// Whether an older record is marked.
fn is_marked(record: u32) -> bool {
    return (bitmap[record / 32u] >> (record % 32u) & 1u) != 0u;
}
