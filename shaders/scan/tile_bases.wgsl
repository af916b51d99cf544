// The sum of all tiles before each tile, and of all tiles: one workgroup, a tile of sums at a time.

@group(0) @binding(0) var<storage, read> n_items: array<u32>;
@group(0) @binding(1) var<storage, read> sums: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> bases: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> total: array<u32>;

fn sum_vector(index: u32, n: u32) -> vec4<u32> {
    return masked(sums[index], 4u * index, n);
}

fn put(index: u32, v: vec4<u32>, n: u32) {
    if 4u * index < n {
        bases[index] = v;
    }
}

@compute @workgroup_size(GROUP)
fn tile_bases(place: Place) {
    let n = ceil_div(n_items[0], tile_items());
    let row = row_vectors();
    var base = 0u;
    for (var first = 0u; first < n; first += tile_items()) {
        let at = first / 4u + lane_of(place);
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
    if lane_of(place) == 0u {
        total[0] = base;
    }
}
