// Every invocation searches for itself. search_in_tiles.wgsl declares the same function for tiles of records.

// Looks for the key of an invocation's record among the records `low .. high` of the other input, where `wanted`; the records of
// its own input end before `end`. Control flow must be uniform.
fn find(local: u32, record: u32, end: u32, wanted: bool, low: u32, high: u32) -> Found {
    if wanted && record < end {
        return lower_bound(record, low, high);
    }
    return Found(high, false);
}
