// Exclusive prefix sums inside each tile. Where there are few tiles each adds up the sums before it itself: they are in the
// cache, and a dispatch that did it for all would take longer than all of this.

// The most tiles that do so; with more of them direct_bases.wgsl has put the sum before each tile in its place.
override DIRECT: u32 = 1024u;

@group(0) @binding(0) var<storage, read> n_items: array<u32>;
@group(0) @binding(1) var<storage, read> items: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> tile_sums: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> sums: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> total: array<u32>;

// The sum before the tile. Workgroup memory begins as zeros.
var<workgroup> base: atomic<u32>;

fn item_vector(index: u32, n: u32) -> vec4<u32> {
    return masked(items[index], 4u * index, n);
}

fn put(index: u32, v: vec4<u32>, n: u32) {
    if 4u * index < n {
        sums[index] = v;
    }
}

// Adds this lane's part of the sum before a tile.
fn add_to_base(lane: u32, tile: u32, tiles: u32) {
    var part = 0u;
    if tiles > DIRECT {
        part = select(0u, tile_sums[tile / 4u][tile % 4u], lane == 0u);
    } else {
        for (var vector = lane; 4u * vector < tile; vector += GROUP) {
            part += sum4(masked(tile_sums[vector], 4u * vector, tile));
        }
    }
    if part != 0u {
        atomicAdd(&base, part);
    }
}

@compute @workgroup_size(GROUP)
fn apply_direct(place: Place) {
    let n = n_items[0];
    let tile = linear_workgroup(place.group, place.groups);
    let tiles = ceil_div(n, tile_items());
    // The total of nothing is written too.
    if tile >= max(tiles, 1u) {
        return;
    }
    let row = row_vectors();
    let at = 4u * row * tile + lane_of(place);
    let rows = Rows(
        item_vector(at, n),
        item_vector(at + row, n),
        item_vector(at + 2u * row, n),
        item_vector(at + 3u * row, n),
    );
    add_to_base(lane_of(place), tile, tiles);
    // There is a barrier in here, after which the base is whole.
    let scanned = scan_rows(place, rows, 0u);
    let before = vec4<u32>(atomicLoad(&base));
    put(at, before + scanned.before.a, n);
    put(at + row, before + scanned.before.b, n);
    put(at + 2u * row, before + scanned.before.c, n);
    put(at + 3u * row, before + scanned.before.d, n);
    if tile + 1u >= tiles && lane_of(place) == 0u {
        total[0] = before.x + scanned.total;
    }
}
