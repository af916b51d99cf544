// A tile of 32 neighbouring records searches the whole other input once, for its first key. The others can only lie between
// that and where the next tile begins. search_alone.wgsl declares the same function for invocations that search for themselves.
//
// A walk over the other input's keys between the two bounds would do as well, but is as long as they are far apart; a search
// there has a bound on any input, and no invocation waits for the rest of its tile.

const TILE_RECORDS: u32 = 32u;

// Where the tiles of this workgroup begin in the other input, and the one behind them.
var<workgroup> tile_bounds: array<u32, 9>;

// Looks for the key of an invocation's record among the records `low .. high` of the other input, where `wanted`; the records of
// its own input end before `end`. A workgroup has eight tiles of neighbouring records. Control flow must be uniform.
fn find(local: u32, record: u32, end: u32, wanted: bool, low: u32, high: u32) -> Found {
    if local <= 8u {
        let first = record - local + TILE_RECORDS * local;
        var bound = high;
        if first < end {
            bound = lower_bound(first, low, high).at;
        }
        tile_bounds[local] = bound;
    }
    workgroupBarrier();

    if wanted && record < end {
        let tile = local / TILE_RECORDS;
        return lower_bound(record, tile_bounds[tile], tile_bounds[tile + 1u]);
    }
    return Found(high, false);
}
