//! Bit strings, most significant bit of each byte first, and their counts: the order-zero exponential-Golomb code and LEB128.
//!
//! Positions and lengths are in bits. Loads are eight bytes wide and tolerate the end of the slice: bits past it read
//! as zero, so that decoding never leaves the slice and a caller checks once, afterwards, that it stayed inside its extent.

/// The eight bytes from `byte` on, big-endian; bytes past the end are zero.
#[inline(always)]
pub fn load(bytes: &[u8], byte: usize) -> u64 {
    match bytes.get(byte..).and_then(|rest| rest.first_chunk::<8>()) {
        Some(eight) => u64::from_be_bytes(*eight),
        None => load_near_end(bytes, byte),
    }
}

#[cold]
fn load_near_end(bytes: &[u8], byte: usize) -> u64 {
    let mut eight = [0; 8];
    let tail = bytes.get(byte..).unwrap_or(&[]);
    let held = tail.len().min(8);
    eight[..held].copy_from_slice(&tail[..held]);
    u64::from_be_bytes(eight)
}

/// At least [`PEEK_BITS`] bits from `at` on, at the top of the word; lower bits may be zero instead.
#[inline(always)]
pub fn peek(bytes: &[u8], at: u64) -> u64 {
    load(bytes, (at >> 3) as usize) << (at & 7)
}

/// Bits that [`peek`] is sure to give.
pub const PEEK_BITS: u32 = 57;

/// All 64 bits from `at` on.
#[inline(always)]
pub fn window(bytes: &[u8], at: u64) -> u64 {
    let byte = (at >> 3) as usize;
    let shift = (at & 7) as u32;
    let next = u64::from(bytes.get(byte + 8).copied().unwrap_or(0));
    (load(bytes, byte) << shift) | ((next << shift) >> 8)
}

/// The bit at `at`; zero past the end.
#[inline(always)]
pub fn bit(bytes: &[u8], at: u64) -> bool {
    let byte = bytes.get((at >> 3) as usize).copied().unwrap_or(0);
    (byte >> (7 - (at & 7))) & 1 == 1
}

/// Number of leading bits that two bit strings share: at most `limit`, starting at `a_at` in `a` and `b_at` in `b`.
pub fn shared_bits(a: &[u8], a_at: u64, b: &[u8], b_at: u64, limit: u64) -> u64 {
    let mut done = 0;
    while done < limit {
        let differing = window(a, a_at + done) ^ window(b, b_at + done);
        if differing != 0 {
            return (done + u64::from(differing.leading_zeros())).min(limit);
        }
        done += 64;
    }
    limit
}

/// Copies `bits` bits from `source` at `from` to `target` at `to`. Bits of `target` before `to` stay; bits after the
/// copied ones, up to eight bytes on, may be overwritten.
///
/// # Panics
///
/// `target` must reach eight bytes past the byte in which the copied bits end.
pub fn copy_into(target: &mut [u8], to: u64, source: &[u8], from: u64, bits: u64) {
    let held = (to & 7) as u32;
    let mut byte = (to >> 3) as usize;
    // Bits already in the first byte, at the top of a word.
    let mut carry = (u64::from(target[byte]) << 56) & !(u64::MAX >> held);
    let mut done = 0;
    loop {
        let next = window(source, from + done);
        target[byte..byte + 8].copy_from_slice(&(carry | (next >> held)).to_be_bytes());
        done += 64;
        if done >= bits + u64::from(held) {
            return;
        }
        carry = if held == 0 { 0 } else { next << (64 - held) };
        byte += 8;
    }
}

/// Length in bits of the exponential-Golomb code of `x`.
#[inline(always)]
pub fn golomb_len(x: u64) -> u64 {
    // x + 1 has one bit more than 64 only for the largest x.
    match x.checked_add(1) {
        Some(m) => u64::from(2 * (63 - m.leading_zeros()) + 1),
        None => 129,
    }
}

/// A decoded count and the length of its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// The number.
    pub value: u64,
    /// Bits of its code.
    pub len: u64,
}

/// Decodes a count from the top of `word`, of which `valid` bits count; `None` if its code may be longer.
#[inline(always)]
pub fn golomb_in(word: u64, valid: u32) -> Option<Count> {
    let zeros = word.leading_zeros();
    let len = 2 * zeros + 1;
    if len > valid {
        return None;
    }
    Some(Count { value: (word >> (64 - len)) - 1, len: u64::from(len) })
}

/// Decodes the count at `at`. `None` for more than 64 leading zeros and for a 64-zero code that names more than
/// 2^64 - 1. Bits past the slice are zeros; the caller compares `at + len` with its extent.
#[inline(always)]
pub fn golomb_at(bytes: &[u8], at: u64) -> Option<Count> {
    golomb_in(peek(bytes, at), PEEK_BITS).or_else(|| long_golomb_at(bytes, at))
}

#[cold]
fn long_golomb_at(bytes: &[u8], at: u64) -> Option<Count> {
    let first = window(bytes, at);
    let zeros = first.leading_zeros();
    let tail = window(bytes, at + u64::from(zeros) + 1);
    if zeros < 64 {
        // The one bit, then `zeros` bits more.
        let low = if zeros == 0 { 0 } else { tail >> (64 - zeros) };
        return Some(Count { value: ((1 << zeros) | low) - 1, len: u64::from(2 * zeros + 1) });
    }
    (bit(bytes, at + 64) && tail == 0).then_some(Count { value: u64::MAX, len: 129 })
}

/// Length in bits of the LEB128 code of `x`.
pub fn leb_len(x: u64) -> u64 {
    8 * u64::from((x | 1).ilog2() / 7 + 1)
}

/// Decodes the LEB128 count at byte `byte`: seven bits a byte, the least significant first, the high bit set in all bytes but
/// the last. `None` unless it is the shortest code of a number below 2^64. Bytes past the slice are zeros, as in [`golomb_at`].
#[inline(always)]
pub fn leb_at(bytes: &[u8], byte: usize) -> Option<Count> {
    match bytes.get(byte) {
        Some(&only) if only < 0x80 => Some(Count { value: only.into(), len: 8 }),
        _ => long_leb_at(bytes, byte),
    }
}

fn long_leb_at(bytes: &[u8], byte: usize) -> Option<Count> {
    let mut value = 0;
    for place in 0..10 {
        let next = u64::from(bytes.get(byte.checked_add(place)?).copied().unwrap_or(0));
        // The tenth byte holds the one bit that is left of 64.
        if place == 9 && next > 1 {
            return None;
        }
        value |= (next & 0x7f) << (7 * place);
        if next < 0x80 {
            let shortest = next != 0 || place == 0;
            return shortest.then_some(Count { value, len: 8 * (place as u64 + 1) });
        }
    }
    None
}

/// A growing bit string that is handed on in pieces: whole bytes collect in `bytes`, the last few bits in `partial`.
#[derive(Debug)]
pub struct BitBuffer {
    /// Storage; valid up to `len`, with eight bytes of slack behind.
    bytes: Vec<u8>,
    /// Whole bytes held.
    len: usize,
    /// Bits not yet a whole byte, at the top.
    partial: u64,
    /// How many: 0 ..= 7.
    held: u32,
}

impl BitBuffer {
    /// An empty string with room for `capacity` bytes.
    pub fn with_capacity(capacity: usize) -> BitBuffer {
        BitBuffer { bytes: vec![0; capacity + 16], len: 0, partial: 0, held: 0 }
    }

    /// Whole bytes held.
    pub fn whole_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Bits held, those of the unfinished byte included.
    pub fn len_bits(&self) -> u64 {
        8 * self.len as u64 + u64::from(self.held)
    }

    /// Forgets the whole bytes, which the caller has taken; bits of the unfinished byte stay.
    pub fn clear_whole_bytes(&mut self) {
        self.len = 0;
    }

    /// Appends `bits` (at most 56) bits from the low end of `value`, whose other bits are zero.
    #[inline(always)]
    pub fn put(&mut self, value: u64, bits: u32) {
        debug_assert!(bits <= 56 && (bits == 0 || value >> bits == 0));
        self.reserve(8);
        if bits == 0 {
            return;
        }
        let word = self.partial | ((value << (64 - bits)) >> self.held);
        self.store(word);
        let total = self.held + bits;
        self.len += (total >> 3) as usize;
        // At most 7 whole bytes moved out, so the shift is below 64.
        self.partial = word << (total & !7);
        self.held = total & 7;
    }

    /// Appends the exponential-Golomb code of `x`.
    #[inline(always)]
    pub fn put_golomb(&mut self, x: u64) {
        if x < (1 << 28) - 1 {
            self.put(x + 1, golomb_len(x) as u32);
        } else {
            self.put_long_golomb(x);
        }
    }

    #[cold]
    fn put_long_golomb(&mut self, x: u64) {
        let m = u128::from(x) + 1;
        let zeros = 127 - m.leading_zeros();
        for _ in 0..zeros {
            self.put(0, 1);
        }
        for place in (0..=zeros).rev() {
            self.put(((m >> place) & 1) as u64, 1);
        }
    }

    /// Appends the LEB128 code of `x`; see [`leb_at`].
    #[inline(always)]
    pub fn put_leb(&mut self, x: u64) {
        let mut left = x;
        while left >= 0x80 {
            self.put(left & 0x7f | 0x80, 8);
            left >>= 7;
        }
        self.put(left, 8);
    }

    /// Appends `bits` bits of `source` from `from` on.
    #[inline(always)]
    pub fn put_span(&mut self, source: &[u8], from: u64, bits: u64) {
        let mut from = from;
        let mut left = bits;
        if left > 256 {
            let whole = left & !63;
            self.put_words(source, from, whole);
            from += whole;
            left -= whole;
        }
        while left > 56 {
            self.put(peek(source, from) >> 8, 56);
            from += 56;
            left -= 56;
        }
        if left > 0 {
            self.put(peek(source, from) >> (64 - left), left as u32);
        }
    }

    /// Appends `bits` bits, a multiple of 64.
    fn put_words(&mut self, source: &[u8], from: u64, bits: u64) {
        self.reserve((bits / 8) as usize + 8);
        let target = &mut self.bytes[self.len..self.len + (bits / 8) as usize];
        let mut partial = self.partial;
        for (word, target) in target.chunks_exact_mut(8).enumerate() {
            let next = window(source, from + 64 * word as u64);
            target.copy_from_slice(&(partial | (next >> self.held)).to_be_bytes());
            // Shifting twice keeps a shift by 64 out.
            partial = (next << (63 - self.held)) << 1;
        }
        self.partial = partial;
        self.len += (bits / 8) as usize;
    }

    /// Fills the unfinished byte with zeros; the string is whole bytes afterwards.
    pub fn pad_to_byte(&mut self) {
        if self.held > 0 {
            self.put(0, 8 - self.held);
        }
    }

    #[inline(always)]
    fn reserve(&mut self, more: usize) {
        if self.len + more > self.bytes.len() {
            self.grow(more);
        }
    }

    #[cold]
    fn grow(&mut self, more: usize) {
        let size = (self.len + more + 16).max(2 * self.bytes.len());
        self.bytes.resize(size, 0);
    }

    #[inline(always)]
    fn store(&mut self, word: u64) {
        self.bytes[self.len..self.len + 8].copy_from_slice(&word.to_be_bytes());
    }
}
