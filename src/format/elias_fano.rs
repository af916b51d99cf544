//! Elias-Fano coding of a nondecreasing sequence of unsigned 64-bit integers, in Everett's four sections.
//!
//! Each of the n integers keeps its low `w` bits in **lows**; the rest, v >> w, is kept in unary in **highs**: bit
//! (v >> w) + i is set for integer i. **Samples** hold where each group of 256 begins in highs; a group whose bits lie
//! 4,096 or more apart also lists every position in **exceptions**, so that select never scans more than 65 words.
//! The last integer is the universe U, and w = floor(log2(U / n)). (Elias 1974, Fano 1971; the sampling is Everett's.)
//!
//! Knows nothing of records or files: sections are words, positions are in bits.

/// Integers that share a sample.
pub const GROUP: u64 = 256;

/// Distance between a group's first and last high position from which on it lists its positions.
pub const SPARSE_SPAN: u64 = 4096;

/// The second word of a dense group's sample.
pub const DENSE: u64 = u64::MAX;

/// The four sections, in file order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Low bits, packed.
    Lows,
    /// High bits, in unary.
    Highs,
    /// Two words a group.
    Samples,
    /// Positions of sparse groups.
    Exceptions,
}

impl Section {
    /// All four, in file order.
    pub const ALL: [Section; 4] = [Section::Lows, Section::Highs, Section::Samples, Section::Exceptions];

    /// A word for messages.
    pub fn name(self) -> &'static str {
        match self {
            Section::Lows => "lows",
            Section::Highs => "highs",
            Section::Samples => "samples",
            Section::Exceptions => "exceptions",
        }
    }
}

/// What decides the size of every section but the exceptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Number of integers, n.
    pub entries: u64,
    /// The last and largest integer, U.
    pub universe: u64,
    /// Low bits of each, w: 0 ..= 63.
    pub low_width: u32,
}

impl Shape {
    /// The shape that a writer chooses.
    pub fn canonical(entries: u64, universe: u64) -> Shape {
        let mean = universe.checked_div(entries).unwrap_or(0);
        Shape { entries, universe, low_width: mean.checked_ilog2().unwrap_or(0) }
    }

    /// Extents of lows and highs in bits; `None` where either passes 2^64 - 256, which no reader accepts.
    pub fn extents_bits(&self) -> Option<(u64, u64)> {
        let limit = u64::MAX - 255;
        let lows = self.entries.checked_mul(u64::from(self.low_width)).filter(|&bits| bits <= limit)?;
        let highs =
            (self.universe >> self.low_width).checked_add(self.entries).filter(|&bits| bits <= limit)?;
        Some((lows, highs))
    }

    /// Words of lows, highs and samples; `None` as for [`Shape::extents_bits`].
    pub fn words(&self) -> Option<[u64; 3]> {
        let (lows, highs) = self.extents_bits()?;
        Some([lows.div_ceil(64), highs.div_ceil(64), 2 * self.entries.div_ceil(GROUP)])
    }
}

/// Encodes a sequence integer by integer, giving out each word as soon as it is finished.
///
/// Within a section, words come out in order. Memory is one group of positions.
#[derive(Debug)]
pub struct Encoder {
    shape: Shape,
    entries: u64,
    last: u64,
    low_word: u64,
    low_bits: u32,
    high_word: u64,
    high_index: u64,
    group: Vec<u64>,
    exceptions: u64,
}

impl Encoder {
    /// An encoder for a sequence of this shape.
    pub fn new(shape: Shape) -> Encoder {
        Encoder {
            shape,
            entries: 0,
            last: 0,
            low_word: 0,
            low_bits: 0,
            high_word: 0,
            high_index: 0,
            group: Vec::with_capacity(GROUP as usize),
            exceptions: 0,
        }
    }

    /// Appends an integer. Refuses, with `false`, one that is smaller than its predecessor, larger than the universe or
    /// one too many.
    #[inline]
    pub fn push(&mut self, value: u64, mut out: impl FnMut(Section, u64)) -> bool {
        if value < self.last || value > self.shape.universe || self.entries == self.shape.entries {
            return false;
        }
        self.last = value;
        self.push_low(value, &mut out);
        let position = (value >> self.shape.low_width) + self.entries;
        self.entries += 1;
        self.push_high(position, &mut out);
        self.group.push(position);
        if self.group.len() as u64 == GROUP {
            self.end_group(&mut out);
        }
        true
    }

    /// Gives out what is unfinished; the number of integers is then complete or this returns `false`.
    pub fn finish(mut self, mut out: impl FnMut(Section, u64)) -> bool {
        if self.low_bits > 0 {
            out(Section::Lows, self.low_word);
        }
        if self.entries > 0 {
            out(Section::Highs, self.high_word);
        }
        self.end_group(&mut out);
        self.entries == self.shape.entries && (self.entries == 0 || self.last == self.shape.universe)
    }

    #[inline]
    fn push_low(&mut self, value: u64, out: &mut impl FnMut(Section, u64)) {
        let width = self.shape.low_width;
        if width == 0 {
            return;
        }
        let low = value & (u64::MAX >> (64 - width));
        self.low_word |= low << self.low_bits;
        if self.low_bits + width >= 64 {
            out(Section::Lows, self.low_word);
            let used = 64 - self.low_bits;
            self.low_word = if used < 64 { low >> used } else { 0 };
            self.low_bits = width - used;
        } else {
            self.low_bits += width;
        }
    }

    #[inline]
    fn push_high(&mut self, position: u64, out: &mut impl FnMut(Section, u64)) {
        while self.high_index < position / 64 {
            out(Section::Highs, self.high_word);
            self.high_word = 0;
            self.high_index += 1;
        }
        self.high_word |= 1 << (position % 64);
    }

    fn end_group(&mut self, out: &mut impl FnMut(Section, u64)) {
        let (Some(&first), Some(&last)) = (self.group.first(), self.group.last()) else { return };
        out(Section::Samples, first);
        if last - first < SPARSE_SPAN {
            out(Section::Samples, DENSE);
        } else {
            out(Section::Samples, self.exceptions);
            for &position in &self.group {
                out(Section::Exceptions, position);
            }
            self.exceptions += self.group.len() as u64;
        }
        self.group.clear();
    }
}

/// Compares a sequence, integer by integer, with the sections that are supposed to hold it.
///
/// This is the strict check: the sections must be exactly what an [`Encoder`] would have written.
#[derive(Debug)]
pub struct Comparer<'a> {
    encoder: Encoder,
    sections: Sections<'a>,
    next: [usize; 4],
    wrong: Option<Mismatch>,
}

/// Where sections differ from the sequence they should hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// In which section.
    pub section: Section,
    /// At which of its words; its length if words are missing or left over.
    pub word: u64,
}

/// The four sections of a file, each a whole number of little-endian words.
#[derive(Clone, Copy, Debug)]
pub struct Sections<'a>(pub [&'a [u8]; 4]);

impl<'a> Sections<'a> {
    /// A word of a section, if it is there.
    #[inline]
    pub fn word(&self, section: Section, index: usize) -> Option<u64> {
        let bytes = self.0[section as usize].get(index.checked_mul(8)?..)?;
        bytes.first_chunk().map(|eight| u64::from_le_bytes(*eight))
    }

    /// Number of words of a section.
    pub fn words(&self, section: Section) -> u64 {
        self.0[section as usize].len() as u64 / 8
    }

    /// Integer `ordinal` of a sequence of this shape, with every index checked; `None` if the sections break their rules there.
    pub fn select(&self, shape: Shape, ordinal: u64) -> Option<u64> {
        let (_, high_bits) = shape.extents_bits()?;
        if ordinal >= shape.entries {
            return None;
        }
        let position = self.position(ordinal).filter(|&position| position < high_bits)?;
        let high_word = self.word(Section::Highs, (position / 64) as usize)?;
        let high = position.checked_sub(ordinal)?;
        if (high_word >> (position % 64)) & 1 == 0 || high > shape.universe >> shape.low_width {
            return None;
        }
        let value = (high << shape.low_width) | self.low(shape.low_width, ordinal)?;
        (value <= shape.universe).then_some(value)
    }

    /// Checks that the sections are exactly what an [`Encoder`] writes for the sequence that highs and lows hold.
    pub fn check(&self, shape: Shape) -> Result<(), Mismatch> {
        let mut comparer = Comparer::new(shape, *self);
        let mut ordinal = 0;
        for index in 0..self.words(Section::Highs) {
            let wrong = Mismatch { section: Section::Highs, word: index };
            let mut word = self.word(Section::Highs, index as usize).ok_or(wrong)?;
            while word != 0 {
                let position = 64 * index + u64::from(word.trailing_zeros());
                word &= word - 1;
                let low = self.low(shape.low_width, ordinal).ok_or(wrong)?;
                let high = position.checked_sub(ordinal).ok_or(wrong)?;
                // A value past 64 bits is past the universe, which is what the comparer then says.
                let value = high.checked_mul(1 << shape.low_width).map_or(u64::MAX, |high| high | low);
                comparer.push(value)?;
                ordinal += 1;
            }
        }
        comparer.finish()
    }

    fn position(&self, ordinal: u64) -> Option<u64> {
        let sample = (ordinal / GROUP) as usize * 2;
        let first = self.word(Section::Samples, sample)?;
        let exception = self.word(Section::Samples, sample + 1)?;
        let within = ordinal % GROUP;
        if exception != DENSE {
            let index = usize::try_from(exception.checked_add(within)?).ok()?;
            return self.word(Section::Exceptions, index);
        }
        let mut index = first / 64;
        let mut word = self.word(Section::Highs, usize::try_from(index).ok()?)? & (u64::MAX << (first % 64));
        let mut left = within;
        while u64::from(word.count_ones()) <= left {
            left -= u64::from(word.count_ones());
            index += 1;
            if index - first / 64 > SPARSE_SPAN / 64 {
                return None;
            }
            word = self.word(Section::Highs, index as usize)?;
        }
        for _ in 0..left {
            word &= word - 1;
        }
        let position = index * 64 + u64::from(word.trailing_zeros());
        (position - first < SPARSE_SPAN).then_some(position)
    }

    fn low(&self, width: u32, ordinal: u64) -> Option<u64> {
        if width == 0 {
            return Some(0);
        }
        let at = ordinal.checked_mul(u64::from(width))?;
        let index = usize::try_from(at / 64).ok()?;
        let shift = (at % 64) as u32;
        let mut low = self.word(Section::Lows, index)? >> shift;
        if shift + width > 64 {
            low |= self.word(Section::Lows, index + 1)? << (64 - shift);
        }
        Some(low & (u64::MAX >> (64 - width)))
    }
}

impl<'a> Comparer<'a> {
    /// Compares with `sections` a sequence of this shape.
    pub fn new(shape: Shape, sections: Sections<'a>) -> Comparer<'a> {
        Comparer { encoder: Encoder::new(shape), sections, next: [0; 4], wrong: None }
    }

    /// The next integer; an error as soon as a finished word differs. An integer that the shape does not admit is a
    /// mismatch of the highs.
    #[inline]
    pub fn push(&mut self, value: u64) -> Result<(), Mismatch> {
        let Comparer { encoder, sections, next, wrong } = self;
        let admitted = encoder.push(value, |section, word| compare(sections, next, wrong, section, word));
        match *wrong {
            Some(mismatch) => Err(mismatch),
            None if admitted => Ok(()),
            None => Err(Mismatch { section: Section::Highs, word: next[Section::Highs as usize] as u64 }),
        }
    }

    /// Compares what is unfinished and that nothing is left over.
    pub fn finish(self) -> Result<(), Mismatch> {
        let Comparer { encoder, sections, mut next, mut wrong } = self;
        let complete =
            encoder.finish(|section, word| compare(&sections, &mut next, &mut wrong, section, word));
        if let Some(mismatch) = wrong {
            return Err(mismatch);
        }
        if !complete {
            return Err(Mismatch { section: Section::Highs, word: next[Section::Highs as usize] as u64 });
        }
        for section in Section::ALL {
            if sections.words(section) != next[section as usize] as u64 {
                return Err(Mismatch { section, word: next[section as usize] as u64 });
            }
        }
        Ok(())
    }
}

#[inline]
fn compare(
    sections: &Sections<'_>,
    next: &mut [usize; 4],
    wrong: &mut Option<Mismatch>,
    section: Section,
    word: u64,
) {
    let index = next[section as usize];
    next[section as usize] += 1;
    if sections.word(section, index) != Some(word) && wrong.is_none() {
        *wrong = Some(Mismatch { section, word: index as u64 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(values: &[u64]) -> (Shape, [Vec<u8>; 4]) {
        let shape = Shape::canonical(values.len() as u64, values.last().copied().unwrap_or(0));
        let mut sections: [Vec<u8>; 4] = Default::default();
        let mut encoder = Encoder::new(shape);
        for &value in values {
            assert!(
                encoder.push(value, |section, word| sections[section as usize].extend(word.to_le_bytes()))
            );
        }
        assert!(encoder.finish(|section, word| sections[section as usize].extend(word.to_le_bytes())));
        (shape, sections)
    }

    fn check(values: &[u64]) -> (Shape, [Vec<u8>; 4]) {
        let (shape, owned) = encode(values);
        let sections = Sections(owned.each_ref().map(|section| section.as_slice()));
        let words = shape.words().expect("small");
        for (section, expected) in Section::ALL.into_iter().zip(words) {
            assert_eq!(sections.words(section), expected, "{}", section.name());
        }
        let mut comparer = Comparer::new(shape, sections);
        for (ordinal, &value) in values.iter().enumerate() {
            assert_eq!(sections.select(shape, ordinal as u64), Some(value));
            comparer.push(value).expect("equal");
        }
        comparer.finish().expect("equal");
        sections.check(shape).expect("canonical");
        assert_eq!(sections.select(shape, values.len() as u64), None);
        (shape, owned)
    }

    #[test]
    fn worked_examples() {
        let (shape, [lows, highs, samples, exceptions]) = check(&[0, 18]);
        assert_eq!(shape.low_width, 3);
        assert_eq!(lows, 0x10_u64.to_le_bytes());
        assert_eq!(highs, 0x09_u64.to_le_bytes());
        assert_eq!(samples, [0_u64.to_le_bytes(), DENSE.to_le_bytes()].concat());
        assert!(exceptions.is_empty());

        let (shape, [lows, highs, ..]) = check(&[0]);
        assert_eq!((shape.low_width, lows.len()), (0, 0));
        assert_eq!(highs, 1_u64.to_le_bytes());
        check(&[]);
    }

    /// 127 zeros, then 3,970 times `high`: the first group ends `high` + 255 behind its start.
    fn step(high: u64) -> Vec<u64> {
        [vec![0; 127], vec![high; 3970]].concat()
    }

    #[test]
    fn a_group_is_sparse_from_a_span_of_4096_on() {
        for (high, low_width, exceptions) in [(3840, 0, 0), (3841, 0, 256), (65_536, 3, 256)] {
            let (shape, sections) = check(&step(high));
            assert_eq!((shape.low_width, sections[3].len()), (low_width, 8 * exceptions), "step to {high}");
        }
    }

    #[test]
    fn every_low_width_packs_and_selects() {
        for width in 0..58 {
            let universe = 67_u64 << width;
            let values: Vec<u64> = (0..67).map(|i| (u128::from(universe) * i / 66) as u64).collect();
            assert_eq!(check(&values).0.low_width, width);
        }
        check(&[0; 513]);
        check(&[7, u64::MAX]);
    }

    #[test]
    fn any_flipped_bit_is_found() {
        let values = step(3841);
        let (shape, owned) = encode(&values);
        for section in Section::ALL {
            for byte in (0..owned[section as usize].len()).step_by(97) {
                let mut changed = owned.clone();
                changed[section as usize][byte] ^= 1 << (byte % 8);
                let mut comparer =
                    Comparer::new(shape, Sections(changed.each_ref().map(|section| section.as_slice())));
                let found = values.iter().try_for_each(|&value| comparer.push(value));
                let found = found.and_then(|()| comparer.finish());
                assert_eq!(found, Err(Mismatch { section, word: byte as u64 / 8 }));
            }
        }
    }
}
