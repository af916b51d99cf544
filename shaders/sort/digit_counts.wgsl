// How often each value of one 8-bit digit occurs in each tile of keys.

@group(0) @binding(0) var<storage, read> n_keys: array<u32>;
@group(0) @binding(1) var<storage, read> keys: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> counts: array<u32>;

var<workgroup> bins: array<atomic<u32>, DIGITS>;

@compute @workgroup_size(GROUP)
fn digit_counts(place: Place) {
    let n = n_keys[0];
    let tiles = ceil_div(n, tile_keys());
    let tile = linear_workgroup(place.group, place.groups);
    if tile >= tiles {
        return;
    }
    for (var d = place.index; d < DIGITS; d += GROUP) {
        atomicStore(&bins[d], 0u);
    }
    workgroupBarrier();
    for (var row = 0u; row < tile_keys(); row += 4u * GROUP) {
        let first = tile * tile_keys() + row + 4u * place.index;
        let four = keys[first / 4u];
        for (var k = 0u; k < 4u; k += 1u) {
            if first + k < n {
                atomicAdd(&bins[digit_of(four[k])], 1u);
            }
        }
    }
    workgroupBarrier();
    for (var d = place.index; d < DIGITS; d += GROUP) {
        counts[d * tiles + tile] = atomicLoad(&bins[d]);
    }
}
