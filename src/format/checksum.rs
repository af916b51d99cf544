//! CRC-32C beside something else.

use crate::threads;

/// Bytes from which on a checksum has a thread of its own.
const THREAD_BYTES: usize = 1 << 20;

/// Bytes of each share where there are several: putting two checksums together takes as long as reading a megabyte, about 100 µs.
const SHARE_BYTES: usize = 16 << 20;

/// Threads at most.
const THREADS_MAX: usize = 4;

/// The checksum of `bytes` appended to what has the checksum `crc`, worked out while this thread does something else if the
/// bytes are many.
pub(super) fn append_beside<T>(crc: u32, bytes: &[u8], work: impl FnOnce() -> T) -> (u32, T) {
    if bytes.len() < THREAD_BYTES {
        return (crc32c::crc32c_append(crc, bytes), work());
    }
    let shares = (bytes.len() / SHARE_BYTES).clamp(1, threads::available().min(THREADS_MAX));
    let (first, rest) = bytes.split_at(bytes.len().div_ceil(shares));
    std::thread::scope(|scope| {
        let begin = scope.spawn(|| crc32c::crc32c_append(crc, first));
        let share = |piece| scope.spawn(move || (crc32c::crc32c(piece), piece.len()));
        let rest: Vec<_> = rest.chunks(first.len()).map(share).collect();
        let done = work();
        let begin = begin.join().expect("a checksum does not panic");
        let rest = rest.into_iter().map(|share| share.join().expect("a checksum does not panic"));
        (rest.fold(begin, |crc, (next, len)| crc32c::crc32c_combine(crc, next, len)), done)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_make_the_same_checksum() {
        let bytes: Vec<u8> =
            (0..2 * SHARE_BYTES as u32 + 77).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        for len in [0, 1, THREAD_BYTES - 1, THREAD_BYTES, 2 * SHARE_BYTES - 1, 2 * SHARE_BYTES, bytes.len()] {
            let (crc, done) = append_beside(0x1234_5678, &bytes[..len], || len);
            assert_eq!((crc, done), (crc32c::crc32c_append(0x1234_5678, &bytes[..len]), len));
        }
    }
}
