//! Merging files, oldest first, into the one canonical file that holds every key of any of them with its newest value.
//!
//! Replacement merge: on equal keys the newer record wins, tombstones are records like any other, nothing is dropped.

pub mod choice;
pub mod cpu;
pub mod graph;

use crate::format::kv::{File, Profile};

/// Files of both profiles where one is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("files of different profiles: this one is {}, those before it are {}; a merge takes files of one profile, and \
    weft dump and weft import turn one into the other", .profile.name(), .first.name())]
pub struct MixedProfiles {
    /// The profile of the first file.
    pub first: Profile,
    /// The first file of another one, from 0.
    pub input: usize,
    /// Its profile.
    pub profile: Profile,
}

/// The one profile of all inputs; none if there are none.
pub fn common_profile(inputs: &[File<'_>]) -> Result<Option<Profile>, MixedProfiles> {
    let Some(first) = inputs.first().map(|input| input.profile) else { return Ok(None) };
    match inputs.iter().position(|input| input.profile != first) {
        Some(input) => Err(MixedProfiles { first, input, profile: inputs[input].profile }),
        None => Ok(Some(first)),
    }
}
