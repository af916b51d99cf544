// Linear indices for one-dimensional grids.
//
// A dispatch has at most 65,535 groups in a dimension, so the executor folds a longer grid into two dimensions. It may
// then start a few groups more than were asked for: a kernel leaves when its index is past the end of its work.

// Index of a workgroup, from its builtins workgroup_id and num_workgroups.
fn linear_workgroup(group: vec3<u32>, groups: vec3<u32>) -> u32 {
    return group.x + group.y * groups.x;
}

// Index of an invocation, from the same builtins, its local_invocation_index and the size of a workgroup.
fn linear_invocation(group: vec3<u32>, groups: vec3<u32>, local: u32, group_size: u32) -> u32 {
    return linear_workgroup(group, groups) * group_size + local;
}

// x / y rounded up. y is not 0.
fn ceil_div(x: u32, y: u32) -> u32 {
    return x / y + select(0u, 1u, x % y != 0u);
}
