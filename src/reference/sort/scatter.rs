//! `sort/scatter`

use super::{DIGITS, digit_of, tile_keys};
use crate::reference::{Call, Fault};

/// Moves each key behind all keys with a smaller digit and all earlier ones with the same.
pub(in crate::reference) fn scatter(call: &Call<'_>) -> Result<(), Fault> {
    let (keys, bases, moved) = (call.port("keys")?, call.port("bases")?, call.port("moved")?);
    let (n, shift, tile_keys) = (call.carried("n_keys")?, call.number("shift")?, tile_keys(call)?);
    let tiles = n.div_ceil(tile_keys);
    for tile in 0..tiles {
        let mut seen = [0u64; DIGITS as usize];
        for i in tile * tile_keys..n.min((tile + 1) * tile_keys) {
            let key = keys.get(i)?;
            let digit = digit_of(key, shift);
            let seen = &mut seen[digit as usize];
            moved.set(u64::from(bases.get(digit * tiles + tile)?) + *seen, key)?;
            *seen += 1;
        }
    }
    Ok(())
}
