// Keys that lie in the payloads of two files, for keys/owner.wgsl. keys/in_arena.wgsl serves passes whose keys lie in an arena.

// The bindings are past those of any pass.
@group(0) @binding(8) var<storage, read> older: array<u32>;
@group(0) @binding(9) var<storage, read> newer: array<u32>;
@group(0) @binding(10) var<storage, read> literal_starts: array<u32>;
@group(0) @binding(11) var<storage, read> tree: array<u32>;
