// All records in the order of their keys, on equal keys the older one first.

const GROUP: u32 = 128u;

@group(0) @binding(0) var<storage, read> key_bits: array<u32>;
@group(0) @binding(1) var<storage, read> prefix: array<u32>;
@group(0) @binding(2) var<storage, read_write> order: array<u32>;

fn older_count() -> u32 {
    return params.older_records;
}

fn older_record(a: u32) -> u32 {
    return a;
}

fn older_inherited(a: u32) -> u32 {
    return inherited(a);
}

fn put(i: u32, record: u32) {
    order[i] = record;
}

@compute @workgroup_size(GROUP)
fn merge_path(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    merge_run(linear_invocation(group, groups, local, GROUP));
}
