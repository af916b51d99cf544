// The eight bytes of each key after the common prefix, put together from the runs of bits that they consist of.

const GROUP: u32 = 256u;
const WINDOW_BITS: u32 = 64u;

struct Params {
    records: u32,
    older_records: u32,
}
var<immediate> params: Params;

@group(0) @binding(0) var<storage, read> older: array<u32>;
@group(0) @binding(1) var<storage, read> newer: array<u32>;
@group(0) @binding(2) var<storage, read> literal_starts: array<u32>;
@group(0) @binding(3) var<storage, read> key_bits: array<u32>;
@group(0) @binding(4) var<storage, read> retained: array<u32>;
@group(0) @binding(5) var<storage, read> tree: array<u32>;
@group(0) @binding(6) var<storage, read> prefix: array<u32>;
@group(0) @binding(7) var<storage, read_write> windows: array<vec2<u32>>;

// A word shifted to bit `at` (below 64) of a window.
fn placed(word: u32, at: u32) -> vec2<u32> {
    if at >= 32u {
        return vec2<u32>(0u, word >> (at - 32u));
    }
    return vec2<u32>(word >> at, select(word << (32u - at), 0u, at == 0u));
}

fn window_at(record: u32, start: u32) -> vec2<u32> {
    let key = key_bits[record];
    let held = min(key - min(key, start), WINDOW_BITS);
    var window = vec2<u32>(0u);
    var run = KeyRun();
    // Each turn takes a bit or more.
    for (var at = 0u; at < held;) {
        if run.bits == 0u {
            run = key_run(record, start + at);
        }
        let bits = min(min(run.bits, held - at), 32u);
        window |= placed(first_bits(run_word(run, 0u), bits), at);
        run = run_from(run, bits);
        at += bits;
    }
    return window;
}

@compute @workgroup_size(GROUP)
fn key_windows(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let record = linear_invocation(group, groups, local, GROUP);
    if record < params.records {
        windows[record] = window_at(record, 8u * prefix[0]);
    }
}
