// The sum of all tiles before each tile, in place of the tile's own: one workgroup, a tile of sums at a time. As many tiles
// as apply_direct.wgsl adds up by itself stay as they are.

// The most tiles whose sums stay.
override DIRECT: u32 = 1024u;

@group(0) @binding(0) var<storage, read> n_items: array<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<vec4<u32>>;

fn sum_vector(index: u32, n: u32) -> vec4<u32> {
    return masked(sums[index], 4u * index, n);
}

fn put(index: u32, v: vec4<u32>, n: u32) {
    if 4u * index < n {
        sums[index] = v;
    }
}

@compute @workgroup_size(GROUP)
fn direct_bases(place: Place) {
    let n = ceil_div(n_items[0], tile_items());
    // A grid may have a group too many.
    if n <= DIRECT || linear_workgroup(place.group, place.groups) > 0u {
        return;
    }
    let row = row_vectors();
    var base = 0u;
    for (var start = 0u; start < ceil_div(n, 4u); start += 4u * row) {
        let at = start + lane_of(place);
        let rows = Rows(
            sum_vector(at, n),
            sum_vector(at + row, n),
            sum_vector(at + 2u * row, n),
            sum_vector(at + 3u * row, n),
        );
        let scanned = scan_rows(place, rows, base);
        put(at, scanned.before.a, n);
        put(at + row, scanned.before.b, n);
        put(at + 2u * row, scanned.before.c, n);
        put(at + 3u * row, scanned.before.d, n);
        base += scanned.total;
    }
}
