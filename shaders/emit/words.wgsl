// The payload of an output of the bit profile, a tile a workgroup.

// The shortest record is that of the empty key: codes of three bits and of one, and a tombstone.
const LEAST_RECORD: u32 = 5u;

@group(0) @binding(0) var<storage, read> output_layout: array<u32>;
@group(0) @binding(1) var<storage, read> key_bits: array<u32>;
@group(0) @binding(2) var<storage, read> refs: array<u32>;
@group(0) @binding(3) var<storage, read> shared_bits: array<u32>;
@group(0) @binding(4) var<storage, read> offsets: array<u32>;
@group(0) @binding(5) var<storage, read_write> payload: array<u32>;

// What a record begins with: two numbers, and the bits that the code of the first and both codes take.
struct Head {
    control: u32,
    suffix: u32,
    control_len: u32,
    len: u32,
}

fn head_of(entry: u32, control: u32, suffix: u32) -> Head {
    let control_len = golomb_len(control);
    return Head(control, suffix, control_len, control_len + golomb_len(suffix));
}

// 32 bits of a head from bit `at` on, which is inside it; zeros follow its end.
fn head_window(head: Head, at: u32) -> u32 {
    if at >= head.control_len {
        return golomb_window(head.suffix, at - head.control_len);
    }
    let bits = golomb_window(head.control, at);
    if at + 32u <= head.control_len {
        return bits;
    }
    return bits | (golomb_window(head.suffix, 0u) >> (head.control_len - at));
}

@compute @workgroup_size(GROUP)
fn words(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    emit_tile(local, linear_workgroup(group, groups));
}
