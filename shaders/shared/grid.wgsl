// The position of an invocation in a grid that may be folded.
//
// A dispatch has at most 65,535 workgroups along x, so larger grids are folded into two dimensions, and the last row may
// reach past the end: a kernel compares its index with the number of its items before it does anything.

// The index of this workgroup in the grid.
fn linear_workgroup(workgroup_id: vec3<u32>, num_workgroups: vec3<u32>) -> u32 {
    return workgroup_id.y * num_workgroups.x + workgroup_id.x;
}

// The index of this invocation in the grid, for workgroups of `size` invocations along x.
fn linear_invocation(workgroup_id: vec3<u32>, num_workgroups: vec3<u32>, local_index: u32, size: u32) -> u32 {
    return linear_workgroup(workgroup_id, num_workgroups) * size + local_index;
}
