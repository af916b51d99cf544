//! How many threads there is work for, and work that several do faster.

use std::sync::OnceLock;

/// Bytes that a thread copies at least.
const COPY_SHARE_BYTES: usize = 1 << 20;

/// Threads that copy at most.
const COPY_THREADS_MAX: usize = 4;

/// Threads that this process may run at once. Asking the system reads several files, so it is asked once.
pub(crate) fn available() -> usize {
    static AVAILABLE: OnceLock<usize> = OnceLock::new();
    *AVAILABLE.get_or_init(|| std::thread::available_parallelism().map_or(1, |threads| threads.get()))
}

/// Copies between slices of one length, on several threads if they are long.
pub(crate) fn copy(target: &mut [u8], source: &[u8]) {
    let threads = (source.len() / COPY_SHARE_BYTES).clamp(1, available().min(COPY_THREADS_MAX));
    if threads == 1 {
        return target.copy_from_slice(source);
    }
    let share = source.len().div_ceil(threads);
    let mut shares = target.chunks_mut(share).zip(source.chunks(share));
    let own = shares.next();
    std::thread::scope(|scope| {
        for (target, source) in shares {
            scope.spawn(|| target.copy_from_slice(source));
        }
        if let Some((target, source)) = own {
            target.copy_from_slice(source);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_whole() {
        for len in [0, 1, COPY_SHARE_BYTES, 2 * COPY_SHARE_BYTES + 1, 9 * COPY_SHARE_BYTES + 77] {
            let source: Vec<u8> = (0..len).map(|index| (index % 251) as u8).collect();
            let mut target = vec![0xff; len];
            copy(&mut target, &source);
            assert!(target == source, "{len} bytes");
        }
    }
}
