// The low bits of all entries, one after another, from the lowest bit of the first word on.

const GROUP: u32 = 256u;

@group(0) @binding(0) var<storage, read> output_layout: array<u32>;
@group(0) @binding(1) var<storage, read> offsets: array<u32>;
@group(0) @binding(2) var<storage, read_write> lows: array<u32>;

@compute @workgroup_size(GROUP)
fn pack(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let word = linear_invocation(group, groups, local, GROUP);
    if word >= low_words() {
        return;
    }
    let width = max(low_width(), 1u);
    let first = 32u * word;
    let entries = entry_count();
    var bits = 0u;
    for (var j = first / width; j < entries && j * width < first + 32u; j += 1u) {
        let at = j * width;
        if at < first {
            // It begins in the word before.
            bits |= low_bits(j) >> (first - at);
        } else {
            bits |= low_bits(j) << (at - first);
        }
    }
    lows[word] = bits;
}
