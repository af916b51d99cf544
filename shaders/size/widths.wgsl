// The least and the greatest length of the surviving values in units, and the length of the last key.
//
// Both extremes are minima, the greatest length as the least complement, so that one word of all ones is their start.
// A workgroup first finds its own in workgroup memory: two atomics on memory of the device instead of 512.

const GROUP: u32 = 256u;

@group(0) @binding(0) var<storage, read> n_survivors: array<u32>;
@group(0) @binding(1) var<storage, read> refs: array<u32>;
@group(0) @binding(2) var<storage, read> key_bits: array<u32>;
@group(0) @binding(3) var<storage, read> value_bits: array<u32>;
@group(0) @binding(4) var<storage, read_write> extremes: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read_write> last_key_bits: array<u32>;

var<workgroup> least: atomic<u32>;
var<workgroup> least_complement: atomic<u32>;

@compute @workgroup_size(GROUP)
fn widths(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let survivors = n_survivors[0];
    let i = linear_invocation(group, groups, local, GROUP);
    if local == 0u {
        atomicStore(&least, 0xffffffffu);
        atomicStore(&least_complement, 0xffffffffu);
    }
    workgroupBarrier();
    if i < survivors {
        let record = refs[i];
        let width = value_bits[record] / UNIT;
        atomicMin(&least, width);
        atomicMin(&least_complement, ~width);
        if i == survivors - 1u {
            last_key_bits[0] = key_bits[record];
        }
    }
    if i == 0u && survivors == 0u {
        last_key_bits[0] = 0u;
    }
    workgroupBarrier();
    if local == 0u {
        atomicMin(&extremes[0], atomicLoad(&least));
        atomicMin(&extremes[1], atomicLoad(&least_complement));
    }
}
