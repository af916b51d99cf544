//! Bits of a file, whose first one is the highest of its first byte, and of an arena, where it is the highest of a word.

use super::{Fault, Port};

/// 32 bits from bit `at` of a file on. Zeros follow the end of the file.
pub(super) fn window(file: &Port<'_>, at: u32) -> Result<u32, Fault> {
    let word = |index| if index < file.len() { file.get(index).map(u32::swap_bytes) } else { Ok(0) };
    let first = u64::from(at / 32);
    let pair = u64::from(word(first)?) << 32 | u64::from(word(first + 1)?);
    Ok((pair << (at % 32) >> 32) as u32)
}

/// The 64 bits from bit `at` of a file on, likewise.
pub(super) fn window64(file: &Port<'_>, at: u32) -> Result<u64, Fault> {
    let next = at.checked_add(32).map_or(Ok(0), |next| window(file, next))?;
    Ok(u64::from(window(file, at)?) << 32 | u64::from(next))
}

/// 32 bits from bit `at` behind the beginning of word `start` of an arena on. Zeros follow the end of the arena.
pub(super) fn arena_window(arena: &Port<'_>, start: u32, at: u32) -> Result<u32, Fault> {
    let word = |word: u32| if u64::from(word) < arena.len() { arena.get(u64::from(word)) } else { Ok(0) };
    let first = start.wrapping_add(at / 32);
    let pair = u64::from(word(first)?) << 32 | u64::from(word(first.wrapping_add(1))?);
    Ok((pair << (at % 32) >> 32) as u32)
}
