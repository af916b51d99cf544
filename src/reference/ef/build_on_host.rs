//! `ef/build_on_host`, by the encoder that also writes files on the CPU

use super::Entries;
use crate::format::elias_fano::{Encoder, Section, Shape};
use crate::reference::{Call, Fault};

/// All four sections, and how many entries are among the exceptions.
pub(in crate::reference) fn build_on_host(call: &Call<'_>) -> Result<(), Fault> {
    let entries = Entries::of(call)?;
    let layout = &entries.layout;
    let sections = ["lows", "highs", "samples", "positions"].map(|name| call.port(name));
    let [lows, highs, samples, positions] = sections;
    let ports = [lows?, highs?, samples?, positions?];
    let mut words = [0u64; Section::ALL.len()];
    let mut fault = Ok(());
    let mut put = |section: Section, word: u64| {
        let at = &mut words[section as usize];
        for half in [word as u32, (word >> 32) as u32] {
            // The first fault is the one to report.
            fault =
                std::mem::replace(&mut fault, Ok(())).and_then(|()| ports[section as usize].set(*at, half));
            *at += 1;
        }
    };
    let shape =
        Shape { entries: entries.count(), universe: u64::from(layout.universe), low_width: layout.low_width };
    let mut encoder = Encoder::new(shape);
    for j in 0..entries.count() {
        if !encoder.push(u64::from(entries.get(j)?), &mut put) {
            return Err(Fault::content("offsets", format!("entry {j} does not ascend to the universe")));
        }
    }
    if !encoder.finish(&mut put) {
        return Err(Fault::content("output_layout", "the last entry is not the universe".to_owned()));
    }
    fault?;
    call.port("total")?.set(0, (words[Section::Exceptions as usize] / 2) as u32)
}
