// Exclusive prefix sums inside each tile. A workgroup adds up by itself what is before its tile: the spans before its own,
// and the tiles before it in that.

@group(0) @binding(0) var<storage, read> n_items: array<u32>;
@group(0) @binding(1) var<storage, read> items: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> tiles: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> spans: array<u32>;
@group(0) @binding(4) var<storage, read_write> sums: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read_write> total: array<u32>;

fn item_vector(index: u32, n: u32) -> vec4<u32> {
    return masked(items[index], 4u * index, n);
}

fn put(index: u32, v: vec4<u32>, n: u32) {
    if 4u * index < n {
        sums[index] = v;
    }
}

// What this lane adds to the sum of all tiles before `tile`.
fn part_before(tile: u32, lane: u32) -> u32 {
    let span = tile / span_tiles();
    let at = GROUP * span + lane;
    var part = 0u;
    if 4u * at < tile {
        part = sum4(masked(tiles[at], 4u * at, tile));
    }
    for (var i = lane; i < span; i += GROUP) {
        part += spans[i];
    }
    return part;
}

@compute @workgroup_size(GROUP)
fn apply(place: Place) {
    let n = n_items[0];
    let tile = linear_workgroup(place.group, place.groups);
    if tile >= max(ceil_div(n, tile_items()), 1u) {
        return;
    }
    let lane = lane_of(place);
    let row = row_vectors();
    let at = 4u * row * tile + lane;
    let rows = Rows(
        item_vector(at, n),
        item_vector(at + row, n),
        item_vector(at + 2u * row, n),
        item_vector(at + 3u * row, n),
    );
    let base = workgroup_sum(place, part_before(tile, lane));
    let scanned = scan_rows(place, rows, base);
    put(at, scanned.before.a, n);
    put(at + row, scanned.before.b, n);
    put(at + 2u * row, scanned.before.c, n);
    put(at + 3u * row, scanned.before.d, n);
    if lane == 0u && (tile + 1u) * tile_items() >= n {
        total[0] = base + scanned.total;
    }
}
