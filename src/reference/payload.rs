//! The bits of a file, the first one the highest of its first byte.

use super::{Fault, Port};

/// 32 bits from bit `at` of a file on. Zeros follow the end of the file.
pub(super) fn window(file: &Port<'_>, at: u32) -> Result<u32, Fault> {
    let word = |index| if index < file.len() { file.get(index).map(u32::swap_bytes) } else { Ok(0) };
    let first = u64::from(at / 32);
    let pair = u64::from(word(first)?) << 32 | u64::from(word(first + 1)?);
    Ok((pair << (at % 32) >> 32) as u32)
}
