// The older records that no newer one replaces and all newer ones, in the order of their keys: order/merge_run.wgsl on a list of
// older records.

const GROUP: u32 = 128u;

@group(0) @binding(0) var<storage, read> n_collisions: array<u32>;
@group(0) @binding(1) var<storage, read> key_bits: array<u32>;
@group(0) @binding(2) var<storage, read> prefix: array<u32>;
@group(0) @binding(3) var<storage, read> live: array<u32>;
@group(0) @binding(4) var<storage, read_write> refs: array<u32>;
@group(0) @binding(5) var<storage, read_write> total: array<u32>;

fn older_count() -> u32 {
    return params.older_records - min(n_collisions[0], params.older_records);
}

fn older_record(a: u32) -> u32 {
    return live[a];
}

// What lies between two records of the list is only known where nothing does.
fn older_inherited(a: u32) -> u32 {
    let record = live[a];
    if a > 0u && live[a - 1u] + 1u == record {
        return inherited(record);
    }
    return 0u;
}

fn put(i: u32, record: u32) {
    refs[i] = record;
}

@compute @workgroup_size(GROUP)
fn merge_live(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let run = linear_invocation(group, groups, local, GROUP);
    if run == 0u {
        total[0] = older_count() + newer_count();
    }
    merge_run(run);
}
