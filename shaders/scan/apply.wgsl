// Exclusive prefix sums inside each tile, from the sum of all tiles before it.

@group(0) @binding(0) var<storage, read> n_items: array<u32>;
@group(0) @binding(1) var<storage, read> items: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> bases: array<u32>;
@group(0) @binding(3) var<storage, read_write> sums: array<vec4<u32>>;

fn item_vector(index: u32, n: u32) -> vec4<u32> {
    return masked(items[index], 4u * index, n);
}

fn put(index: u32, v: vec4<u32>, n: u32) {
    if 4u * index < n {
        sums[index] = v;
    }
}

@compute @workgroup_size(GROUP)
fn apply(place: Place) {
    let n = n_items[0];
    let tile = linear_workgroup(place.group, place.groups);
    if tile >= ceil_div(n, tile_items()) {
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
    let before = scan_rows(place, rows, bases[tile]).before;
    put(at, before.a, n);
    put(at + row, before.b, n);
    put(at + 2u * row, before.c, n);
    put(at + 3u * row, before.d, n);
}
