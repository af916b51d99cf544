// How many words each key takes, and the most that any takes.

const GROUP: u32 = 256u;

struct Params {
    records: u32,
}
var<immediate> params: Params;

@group(0) @binding(0) var<storage, read> key_bits: array<u32>;
@group(0) @binding(1) var<storage, read_write> words: array<u32>;
@group(0) @binding(2) var<storage, read_write> longest: array<atomic<u32>>;

var<workgroup> longest_here: atomic<u32>;

@compute @workgroup_size(GROUP)
fn word_counts(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let record = linear_invocation(group, groups, local, GROUP);
    if record < params.records {
        let count = ceil_div(key_bits[record], 32u);
        words[record] = count;
        atomicMax(&longest_here, count);
    }
    workgroupBarrier();
    if local == 0u {
        atomicMax(&longest[0], atomicLoad(&longest_here));
    }
}
