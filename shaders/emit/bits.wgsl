// The payload of the output. An invocation makes a word, a bit at a time.

const GROUP: u32 = 256u;

@group(0) @binding(0) var<storage, read> output_layout: array<u32>;
@group(0) @binding(1) var<storage, read> key_bits: array<u32>;
@group(0) @binding(2) var<storage, read> refs: array<u32>;
@group(0) @binding(3) var<storage, read> shared_bits: array<u32>;
@group(0) @binding(4) var<storage, read> offsets: array<u32>;
@group(0) @binding(5) var<storage, read_write> payload: array<u32>;

// Bit `at` of a record.
fn record_bit(record: Record, at: u32) -> u32 {
    if at < record.control_len {
        return golomb_window(record.control, at) >> 31u;
    }
    if at < record.codes_len {
        return golomb_window(record.suffix, at - record.control_len) >> 31u;
    }
    return source_window(record.source, at - record.codes_len) >> 31u;
}

@compute @workgroup_size(GROUP)
fn bits(
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
    var i = record_with(first);
    var record = record_at(i);
    var made = 0u;
    for (var k = 0u; k < min(all_bits - first, 32u); k += 1u) {
        var at = first + k - record.start;
        if at >= record.length {
            i += 1u;
            record = record_at(i);
            at = first + k - record.start;
        }
        made |= record_bit(record, at) << (31u - k);
    }
    payload[word] = swap_bytes(made);
}
