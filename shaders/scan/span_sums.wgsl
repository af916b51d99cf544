// The sum of each span of 4 * GROUP tiles that another span follows.

@group(0) @binding(0) var<storage, read> n_items: array<u32>;
@group(0) @binding(1) var<storage, read> tiles: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> spans: array<u32>;

@compute @workgroup_size(GROUP)
fn span_sums(place: Place) {
    let span = linear_workgroup(place.group, place.groups);
    if (span + 1u) * span_tiles() >= ceil_div(n_items[0], tile_items()) {
        return;
    }
    let sum = workgroup_sum(place, sum4(tiles[GROUP * span + lane_of(place)]));
    if lane_of(place) == 0u {
        spans[span] = sum;
    }
}
