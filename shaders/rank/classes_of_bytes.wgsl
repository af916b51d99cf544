// Classes of groups whose populations are given.

struct Params {
    n: u32,
}
var<immediate> params: Params;

@group(0) @binding(0) var<storage, read> populations: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> classes: array<u32>;
@group(0) @binding(2) var<storage, read_write> counts: array<u32>;
@group(0) @binding(3) var<storage, read_write> status: array<atomic<u32>>;

const ABOVE_WIDTH: u32 = 1u;

const TILE_RUNS: u32 = 32u;
const VECTOR_GROUPS: u32 = 16u;
var<workgroup> tile: array<vec4<u32>, TILE_RUNS * RUN_GROUPS / VECTOR_GROUPS>;

fn byte_of(v: vec4<u32>, byte: u32) -> u32 {
    return v[byte / 4u] >> (8u * (byte % 4u)) & 0xffu;
}

fn class_of(group: u32) -> u32 {
    return byte_of(tile[group / VECTOR_GROUPS], group % VECTOR_GROUPS);
}

// Checks the populations of a vector, byte by byte.
fn check(vector: u32, v: vec4<u32>) {
    for (var byte = 0u; byte < VECTOR_GROUPS; byte += 1u) {
        let group = VECTOR_GROUPS * vector + byte;
        let before = min(K * group, params.n);
        if before < params.n && byte_of(v, byte) > min(K, params.n - before) {
            fail(group, ABOVE_WIDTH);
        }
    }
}

// The populations of sixteen groups; of what is no population, the low bits. Groups past the end have none.
fn populations_of(vector: u32) -> vec4<u32> {
    let first = VECTOR_GROUPS * vector;
    let all = ceil_div(params.n, K);
    if first >= all {
        return vec4<u32>(0u);
    }
    let v = populations[vector];
    let fits = vec4<u32>(0x01010101u * K);
    // The last group may be narrower than K.
    let last = first + VECTOR_GROUPS >= all;
    if last || any((v & ~fits) != vec4<u32>(0u)) {
        check(vector, v);
    }
    if !last {
        return v & fits;
    }
    let starts = first + vec4<u32>(0u, 4u, 8u, 12u);
    let left = max(vec4<u32>(all), starts) - starts;
    let masks = select((vec4<u32>(1u) << (8u * (left & vec4<u32>(3u)))) - 1u, vec4<u32>(0xffffffffu), left >= vec4<u32>(4u));
    return v & fits & masks;
}

@compute @workgroup_size(GROUP)
fn classes_of_bytes(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let first_run = TILE_RUNS * linear_workgroup(group, groups);
    if first_run >= runs_of(params.n) {
        return;
    }
    let first_vector = first_run * (RUN_GROUPS / VECTOR_GROUPS);
    for (var i = local; i < TILE_RUNS * RUN_GROUPS / VECTOR_GROUPS; i += GROUP) {
        tile[i] = populations_of(first_vector + i);
    }
    workgroupBarrier();
    write_classes(first_run, params.n, local);
}
