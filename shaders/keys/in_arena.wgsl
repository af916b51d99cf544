// Keys that lie whole in an arena: a key is one run of bits. keys/owner.wgsl declares the same for keys that lie in files.
//
// The pass declares the column `key_bits`.

// Bits of a key.
struct KeyRun {
    // The word with which the key begins.
    start: u32,
    // The first of the bits, from there.
    at: u32,
    // How many there are: at least one.
    bits: u32,
}

// The bits of a record's key from `bit` on, which is inside the key.
fn key_run(record: u32, bit: u32) -> KeyRun {
    return KeyRun(key_starts[record], bit, key_bits[record] - bit);
}

// What is left of a run behind its first bits.
fn run_from(run: KeyRun, bits: u32) -> KeyRun {
    return KeyRun(run.start, run.at + bits, run.bits - bits);
}

// 32 bits of a run from its bit `begin` on. Those past its end have no meaning.
fn run_word(run: KeyRun, begin: u32) -> u32 {
    return arena_window(run.start, run.at + begin);
}
