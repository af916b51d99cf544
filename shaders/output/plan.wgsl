// Lays the output out: one invocation computes the eight numbers that everything after it reads.

@group(0) @binding(0) var<storage, read> n_survivors: array<u32>;
@group(0) @binding(1) var<storage, read> extent: array<u32>;
@group(0) @binding(2) var<storage, read> extremes: array<u32>;
@group(0) @binding(3) var<storage, read> last_key_bits: array<u32>;
@group(0) @binding(4) var<storage, read_write> output_layout: array<u32>;

// The logarithm of the mean distance of Elias-Fano entries, rounded down; 0 where it is below 1.
fn low_width_of(universe: u32, entries: u32) -> u32 {
    let mean = universe / entries;
    return 31u - min(countLeadingZeros(mean), 31u);
}

@compute @workgroup_size(1)
fn plan(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if linear_workgroup(group, groups) > 0u {
        return;
    }
    let survivors = n_survivors[0];
    let payload = extent[0];
    let least = extremes[0];
    let common_width = select(0u, least, least == ~extremes[1]);
    let universe = payload - survivors * common_width;
    let entries = ceil_div(survivors, 15u) + 1u;
    let low_width = low_width_of(universe, entries);
    output_layout[0] = survivors;
    output_layout[1] = payload;
    output_layout[2] = common_width;
    output_layout[3] = universe;
    output_layout[4] = low_width;
    output_layout[5] = last_key_bits[0];
    // Sections are whole words of 64 bits.
    output_layout[6] = 2u * ceil_div(entries * low_width, 64u);
    output_layout[7] = 2u * ceil_div((universe >> low_width) + entries, 64u);
}
