// How many older keys are below each newer one, and a mark on those that have an equal.

const GROUP: u32 = 256u;

@group(0) @binding(0) var<storage, read> key_bits: array<u32>;
@group(0) @binding(1) var<storage, read> prefix: array<u32>;
@group(0) @binding(2) var<storage, read_write> bitmap: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> below: array<u32>;

@compute @workgroup_size(GROUP)
fn mark(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let ordinal = linear_invocation(group, groups, local, GROUP);
    let record = params.older_records + ordinal;
    let found = find(local, record, params.records, true, 0u, params.older_records);
    if record >= params.records {
        return;
    }
    if found.equal {
        atomicOr(&bitmap[found.at / 32u], 1u << (found.at % 32u));
    }
    below[ordinal] = found.at;
}
