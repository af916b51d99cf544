// The payload of the output. An invocation makes a word: for each record in it, what the word covers of both codes and
// of the stretch that is copied.

const GROUP: u32 = 256u;

@group(0) @binding(0) var<storage, read> output_layout: array<u32>;
@group(0) @binding(1) var<storage, read> key_bits: array<u32>;
@group(0) @binding(2) var<storage, read> refs: array<u32>;
@group(0) @binding(3) var<storage, read> shared_bits: array<u32>;
@group(0) @binding(4) var<storage, read> offsets: array<u32>;
@group(0) @binding(5) var<storage, read_write> payload: array<u32>;

// 32 bits of a record from bit `at` on, which is inside it; zeros follow its end.
fn record_window(record: Record, at: u32) -> u32 {
    var bits = 0u;
    if at < record.control_len {
        bits = golomb_window(record.control, at);
    }
    if at < record.codes_len && at + 32u > record.control_len {
        if at >= record.control_len {
            bits |= golomb_window(record.suffix, at - record.control_len);
        } else {
            bits |= golomb_window(record.suffix, 0u) >> (record.control_len - at);
        }
    }
    if at >= record.codes_len {
        bits = source_window(record.source, at - record.codes_len);
    } else if at + 32u > record.codes_len {
        bits |= source_window(record.source, 0u) >> (record.codes_len - at);
    }
    return first_bits(bits, record.length - at);
}

@compute @workgroup_size(GROUP)
fn words(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let word = linear_invocation(group, groups, local, GROUP);
    let all_bits = payload_extent();
    if word >= ceil_div(all_bits, 32u) {
        return;
    }
    let first = 32u * word;
    let wanted = min(all_bits - first, 32u);
    var i = record_with(first);
    var bits = 0u;
    var filled = 0u;
    // Each record gives at least one bit.
    for (var k = 0u; k < 32u && filled < wanted; k += 1u) {
        let record = record_at(i);
        let at = first + filled - record.start;
        bits |= record_window(record, at) >> filled;
        filled += min(record.length - at, 32u);
        i += 1u;
    }
    payload[word] = swap_bytes(bits);
}
