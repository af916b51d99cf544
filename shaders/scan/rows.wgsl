// The tile of a scan: four rows of GROUP vectors of four items. Lane t holds vector t of each row, so that neighbouring
// lanes load neighbouring vectors; one workgroup prefix over the four row sums then serves all sixteen items of a lane.

// Vectors of four items in a row, and items in a tile.
fn row_vectors() -> u32 {
    return GROUP;
}
fn tile_items() -> u32 {
    return 16u * GROUP;
}
// Tiles in a span: one vector of tile sums a lane.
fn span_tiles() -> u32 {
    return 4u * GROUP;
}

// The vectors of one lane, first row first.
struct Rows {
    a: vec4<u32>,
    b: vec4<u32>,
    c: vec4<u32>,
    d: vec4<u32>,
}

// For each item the sum of all before it, and the sum of the whole tile.
struct ScannedRows {
    before: Rows,
    total: u32,
}

fn sum4(v: vec4<u32>) -> u32 {
    return v.x + v.y + v.z + v.w;
}

fn sums_before4(v: vec4<u32>) -> vec4<u32> {
    let xy = v.x + v.y;
    return vec4<u32>(0u, v.x, xy, xy + v.z);
}

// The vector whose first item has index `first`, with items from `n` on replaced by 0.
fn masked(v: vec4<u32>, first: u32, n: u32) -> vec4<u32> {
    return select(vec4<u32>(0u), v, vec4<u32>(first) + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(n));
}

fn sum_rows(place: Place, rows: Rows) -> u32 {
    return workgroup_sum(place, sum4(rows.a + rows.b + rows.c + rows.d));
}

// Exclusive prefix sums over a tile that begins at sum `base`. Control flow must be uniform.
fn scan_rows(place: Place, rows: Rows, base: u32) -> ScannedRows {
    let sums = vec4<u32>(sum4(rows.a), sum4(rows.b), sum4(rows.c), sum4(rows.d));
    let prefix = workgroup_prefix(place, sums);
    let start = vec4<u32>(base) + sums_before4(prefix.total) + prefix.before;
    let before = Rows(
        start.x + sums_before4(rows.a),
        start.y + sums_before4(rows.b),
        start.z + sums_before4(rows.c),
        start.w + sums_before4(rows.d),
    );
    return ScannedRows(before, sum4(prefix.total));
}
