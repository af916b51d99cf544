// Moves each key behind all keys with a smaller digit, and behind those with the same digit that come earlier.
//
// A workgroup first sorts its tile by the digit in workgroup memory, two bits at a time: four stable splits, each with
// one workgroup prefix over the four bucket sizes. Runs of one digit then leave the tile together.

@group(0) @binding(0) var<storage, read> n_keys: array<u32>;
@group(0) @binding(1) var<storage, read> keys: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> bases: array<u32>;
@group(0) @binding(3) var<storage, read_write> moved: array<u32>;

var<workgroup> tile_sorted: array<u32, LANE_KEYS * GROUP>;
var<workgroup> digit_starts: array<u32, DIGITS>;

// Keys past the end sort behind all others of the tile and stay there: they come last and have the largest digit.
const PAST_END: u32 = 0xffffffffu;

fn key_vector(first: u32, n: u32) -> vec4<u32> {
    return select(
        vec4<u32>(PAST_END),
        keys[first / 4u],
        vec4<u32>(first) + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(n),
    );
}

// 1 in the component of the bucket that a key falls into, by the two bits at `shift`.
fn bucket_of(key: u32, shift: u32) -> vec4<u32> {
    return select(vec4<u32>(0u), vec4<u32>(1u), vec4<u32>((key >> shift) & 3u) == vec4<u32>(0u, 1u, 2u, 3u));
}

// One stable split of the tile: every lane gives eight keys in order and takes the eight at its place afterwards.
fn split(place: Place, given: array<u32, LANE_KEYS>, shift: u32) -> array<u32, LANE_KEYS> {
    var held = given;
    var sizes = vec4<u32>(0u);
    for (var k = 0u; k < LANE_KEYS; k += 1u) {
        sizes += bucket_of(held[k], shift);
    }
    let prefix = workgroup_prefix(place, sizes);
    let all = prefix.total;
    var next = vec4<u32>(0u, all.x, all.x + all.y, all.x + all.y + all.z) + prefix.before;
    for (var k = 0u; k < LANE_KEYS; k += 1u) {
        let bucket = bucket_of(held[k], shift);
        tile_sorted[dot(next, bucket)] = held[k];
        next += bucket;
    }
    workgroupBarrier();
    for (var k = 0u; k < LANE_KEYS; k += 1u) {
        held[k] = tile_sorted[LANE_KEYS * lane_of(place) + k];
    }
    workgroupBarrier();
    return held;
}

@compute @workgroup_size(GROUP)
fn scatter(place: Place) {
    let n = n_keys[0];
    let tiles = ceil_div(n, tile_keys());
    let tile = linear_workgroup(place.group, place.groups);
    if tile >= tiles {
        return;
    }
    let start = tile * tile_keys();
    let first = start + LANE_KEYS * lane_of(place);
    let low = key_vector(first, n);
    let high = key_vector(first + 4u, n);
    var held = array<u32, LANE_KEYS>(low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w);
    for (var bit = 0u; bit < 8u; bit += 2u) {
        held = split(place, held, params.shift + bit);
    }

    for (var p = place.index; p < tile_keys(); p += GROUP) {
        let digit = digit_of(tile_sorted[p]);
        if p == 0u || digit_of(tile_sorted[max(p, 1u) - 1u]) != digit {
            digit_starts[digit] = p;
        }
    }
    workgroupBarrier();
    for (var p = place.index; p < min(tile_keys(), n - start); p += GROUP) {
        let key = tile_sorted[p];
        let digit = digit_of(key);
        moved[bases[digit * tiles + tile] + p - digit_starts[digit]] = key;
    }
}
