//! CRC-32C beside something else.

/// Bytes below which a thread of its own costs more than it saves.
const THREAD_BYTES: usize = 1 << 20;

/// The checksum of `bytes` appended to what has the checksum `crc`, worked out while this thread does something else if the
/// bytes are many.
pub(super) fn append_beside<T>(crc: u32, bytes: &[u8], work: impl FnOnce() -> T) -> (u32, T) {
    if bytes.len() < THREAD_BYTES {
        return (crc32c::crc32c_append(crc, bytes), work());
    }
    std::thread::scope(|scope| {
        let checksum = scope.spawn(|| crc32c::crc32c_append(crc, bytes));
        let done = work();
        (checksum.join().expect("a checksum does not panic"), done)
    })
}
