// The payload of an output of the byte profile, a tile a workgroup.

// The shortest record has two counts and a tag.
const LEAST_RECORD: u32 = 3u;

@group(0) @binding(0) var<storage, read> output_layout: array<u32>;
@group(0) @binding(1) var<storage, read> key_bits: array<u32>;
@group(0) @binding(2) var<storage, read> value_bits: array<u32>;
@group(0) @binding(3) var<storage, read> refs: array<u32>;
@group(0) @binding(4) var<storage, read> shared_bits: array<u32>;
@group(0) @binding(5) var<storage, read> offsets: array<u32>;
@group(0) @binding(6) var<storage, read_write> payload: array<u32>;

// What a record begins with: two or three numbers, all in bytes, and the bits that their counts take. The value's is left out
// where all values are equally long.
struct Head {
    control: u32,
    suffix: u32,
    value: u32,
    counts_value: bool,
    len: u32,
}

fn head_of(entry: u32, control: u32, suffix: u32) -> Head {
    var head = Head(control, suffix, 0u, common_width() == 0u, count_len(control) + count_len(suffix));
    if head.counts_value {
        head.value = value_bits[entry] / 8u;
        head.len += count_len(head.value);
    }
    return head;
}

// The bytes of a count within the four from byte `at` on, the first of them highest, where it begins at byte `begin`.
fn count_window(x: u32, begin: u32, at: u32) -> u32 {
    let bytes = count_len(x) / 8u;
    var window = 0u;
    for (var k = max(at, begin); k < min(at + 4u, begin + bytes); k += 1u) {
        let place = k - begin;
        let followed = select(0u, 0x80u, place + 1u < bytes);
        window |= (((x >> (7u * place)) & 0x7fu) | followed) << (24u - 8u * (k - at));
    }
    return window;
}

// 32 bits of a head from bit `at` on, where a byte begins; zeros follow its end.
fn head_window(head: Head, at: u32) -> u32 {
    let suffix_at = count_len(head.control) / 8u;
    var window = count_window(head.control, 0u, at / 8u) | count_window(head.suffix, suffix_at, at / 8u);
    if head.counts_value {
        window |= count_window(head.value, suffix_at + count_len(head.suffix) / 8u, at / 8u);
    }
    return window;
}

@compute @workgroup_size(GROUP)
fn bytes(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    emit_tile(local, linear_workgroup(group, groups));
}
