// What an output record copies lies in an arena, a value behind its key. emit/from_files.wgsl declares the same for files.

// The word with which the key begins, and a bit counted from there.
struct Source {
    start: u32,
    at: u32,
}

// Where a record's key lies from bit `first` on, with the value behind it.
fn source_of(record: u32, first: u32) -> Source {
    return Source(key_starts[record], first);
}

// 32 bits of a source from bit `at` on.
fn source_window(source: Source, at: u32) -> u32 {
    return arena_window(source.start, source.at + at);
}
