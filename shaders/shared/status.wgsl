// Failures. The pass declares `status`: array<atomic<u32>>, one element, whose value is the least of all failures.

// Notes that something is wrong at a position, such as a block. Codes lie between 1 and 127, positions below 2^25.
fn fail(position: u32, code: u32) {
    atomicMin(&status[0], (position << 7u) | code);
}
