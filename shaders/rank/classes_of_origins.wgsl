// Classes of both routes of groups of origins. The tile is a bitmap a route, one behind the other.

struct Params {
    n: u32,
}
var<immediate> params: Params;

@group(0) @binding(0) var<storage, read> origins: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> main_classes: array<u32>;
@group(0) @binding(2) var<storage, read_write> secondary_classes: array<u32>;
@group(0) @binding(3) var<storage, read_write> main_counts: array<u32>;
@group(0) @binding(4) var<storage, read_write> secondary_counts: array<u32>;
@group(0) @binding(5) var<storage, read_write> status: array<atomic<u32>>;

const MAIN: u32 = 1u;
const SECONDARY: u32 = 2u;
const NO_ORIGIN: u32 = 1u;

const ROUTE_RUNS: u32 = 4u;
const TILE_RUNS: u32 = 2u * ROUTE_RUNS;
// The groups of a run are 4K words.
var<workgroup> tile: array<atomic<u32>, 4u * TILE_RUNS * K>;

fn tile_word(word: u32) -> u32 {
    return atomicLoad(&tile[word]);
}

// Four origins, native ones past the end; notes the first that is none.
fn origins_of(vector: u32) -> vec4<u32> {
    let places = vec4<u32>(4u * vector) + vec4<u32>(0u, 1u, 2u, 3u);
    if places.x >= params.n {
        return vec4<u32>(0u);
    }
    let v = select(vec4<u32>(0u), origins[vector], places < vec4<u32>(params.n));
    let wrong = v > vec4<u32>(SECONDARY);
    if any(wrong) {
        let least = select(vec4<u32>(0xffffffffu), places, wrong);
        fail(min(min(least.x, least.y), min(least.z, least.w)), NO_ORIGIN);
    }
    return v;
}

// Marks those of the tile's vector `i` that come from one route.
fn mark(i: u32, v: vec4<u32>, origin: u32, first_word: u32) {
    let marks = select(vec4<u32>(0u), vec4<u32>(1u, 2u, 4u, 8u), v == vec4<u32>(origin));
    let four = marks.x | marks.y | marks.z | marks.w;
    if four != 0u {
        atomicOr(&tile[first_word + i / 8u], four << (4u * (i % 8u)));
    }
}

@compute @workgroup_size(GROUP)
fn classes_of_origins(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let first_run = ROUTE_RUNS * linear_workgroup(group, groups);
    let runs = runs_of(params.n);
    if first_run >= runs {
        return;
    }
    // A run is 32K vectors of four origins.
    for (var i = local; i < 32u * ROUTE_RUNS * K; i += GROUP) {
        let v = origins_of(32u * first_run * K + i);
        mark(i, v, MAIN, 0u);
        mark(i, v, SECONDARY, 4u * ROUTE_RUNS * K);
    }
    workgroupBarrier();

    let words = class_words(params.n);
    let route_words = ROUTE_RUNS * run_words();
    for (var word = local; word < 2u * route_words; word += GROUP) {
        let packed = pack(word);
        let place = first_run * run_words() + word % route_words;
        if place < words {
            if word < route_words {
                main_classes[place] = packed;
            } else {
                secondary_classes[place] = packed;
            }
        }
    }
    workgroupBarrier();

    if local < ROUTE_RUNS && first_run + local < runs {
        main_counts[first_run + local] = atomicLoad(&run_counts[local]);
        secondary_counts[first_run + local] = atomicLoad(&run_counts[ROUTE_RUNS + local]);
    }
}
