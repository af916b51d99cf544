//! Output files that appear whole or not at all.
//!
//! An [`OutputFile`] is written under a temporary name in its target's folder and renamed when it is complete.
//! Dropping it before that, or a signal handled by [`remove_temporaries_on_signals`], removes the temporary file and
//! leaves whatever stood under the target's name untouched. Nothing here knows what is written.

use std::fs::{self, File, Metadata, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fs::{CWD, FallocateFlags, RenameFlags};
use rustix::io::Errno;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};

use crate::format::kind_of;

/// Temporary files of this process that exist now. Whoever creates, renames or removes one holds the lock, so that
/// a signal finds the list complete.
static TEMPORARIES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn temporaries() -> MutexGuard<'static, Vec<PathBuf>> {
    TEMPORARIES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How an output file treats what is already there, and how lasting it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct OutputOptions {
    /// Replace an existing regular file.
    pub force: bool,
    /// Have data and folder on stable storage before [`OutputFile::commit`] returns.
    pub sync: bool,
}

/// Why an output file was refused or not written. Each text starts with the path it is about.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// Something stands under the target's name and is not to be replaced.
    #[error("{}: already exists", .0.display())]
    Exists(PathBuf),
    /// The target is one of the inputs.
    #[error("{}: the output is also an input", .0.display())]
    IsInput(PathBuf),
    /// The target is something other than a regular file, or cannot be one.
    #[error("{}: not a regular file but {kind}", path.display())]
    NotRegular {
        /// The target.
        path: PathBuf,
        /// What it is.
        kind: &'static str,
    },
    /// The system refused to create, write, rename or synchronise.
    #[error("{}: cannot {action}: {source}", path.display())]
    System {
        /// The target, or the folder it lies in.
        path: PathBuf,
        /// What was refused.
        action: &'static str,
        /// The system's reason.
        source: io::Error,
    },
}

impl OutputError {
    fn system<E: Into<io::Error>>(path: &Path, action: &'static str) -> impl FnOnce(E) -> OutputError {
        move |source| OutputError::System { path: path.to_owned(), action, source: source.into() }
    }

    /// Whether the system refused, rather than weft.
    pub fn is_system(&self) -> bool {
        matches!(self, OutputError::System { .. })
    }
}

/// A file under construction. It gets its name by [`commit`](OutputFile::commit); dropped before, it vanishes.
#[derive(Debug)]
pub struct OutputFile {
    file: File,
    temporary: PathBuf,
    /// Where the file goes: absolute, links resolved.
    target: PathBuf,
    /// The target as it was given, for messages.
    given: PathBuf,
    options: OutputOptions,
}

impl OutputFile {
    /// Creates an empty temporary file beside `target`, after checking that `target` may be written.
    ///
    /// `inputs` are the open files the output is made from; a target that is one of them, by whatever name, is
    /// refused. A target that is a symbolic link stands for the file it leads to.
    pub fn create<'a>(
        target: &Path,
        options: OutputOptions,
        inputs: impl IntoIterator<Item = &'a File>,
    ) -> Result<OutputFile, OutputError> {
        let given = target.to_owned();
        let target = check_target(target, options, inputs)?;
        let (temporary, file) = create_temporary(folder_of(&target))
            .map_err(OutputError::system(folder_of(&given), "create a file in this folder"))?;
        Ok(OutputFile { file, temporary, target, given, options })
    }

    /// The file, open for reading and writing.
    ///
    /// Writing through a mapping is allowed once [`reserve`](OutputFile::reserve) has returned: a page of a mapping
    /// that finds the disk full would end the process with SIGBUS.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Makes the file `bytes` long with its space allocated, so that a full disk shows here and not later.
    pub fn reserve(&self, bytes: u64) -> Result<(), OutputError> {
        let reserved = match rustix::fs::fallocate(&self.file, FallocateFlags::empty(), 0, bytes) {
            // A file system that cannot allocate ahead: writing zeros allocates too.
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
                let written = io::copy(&mut io::repeat(0).take(bytes), &mut &self.file);
                written.and_then(|_| (&self.file).rewind())
            }
            // A length of zero has nothing to allocate.
            Err(Errno::INVAL) if bytes == 0 => Ok(()),
            outcome => outcome.map_err(io::Error::from),
        };
        reserved.map_err(|error| self.write_error(error))
    }

    /// The error to report when writing [`file`](OutputFile::file) failed.
    pub fn write_error(&self, error: io::Error) -> OutputError {
        OutputError::system(&self.given, "write")(error)
    }

    /// Gives the finished file its name. On an error the temporary file is removed.
    ///
    /// Without `force`, something that took the name meanwhile is not replaced. The rename is the point of no
    /// return: a later failure to synchronise the folder is an error, but the file is there and complete.
    pub fn commit(self) -> Result<(), OutputError> {
        if self.options.sync {
            self.file.sync_all().map_err(OutputError::system(&self.given, "synchronise"))?;
        }
        {
            let mut temporaries = temporaries();
            self.rename()?;
            temporaries.retain(|path| *path != self.temporary);
        }
        if self.options.sync {
            let synchronised = File::open(folder_of(&self.target)).and_then(|folder| folder.sync_all());
            synchronised.map_err(OutputError::system(folder_of(&self.given), "synchronise this folder"))?;
        }
        Ok(())
    }

    fn rename(&self) -> Result<(), OutputError> {
        let (temporary, target) = (&self.temporary, &self.target);
        let renamed = if self.options.force {
            rustix::fs::rename(temporary, target)
        } else {
            match rustix::fs::renameat_with(CWD, temporary, CWD, target, RenameFlags::NOREPLACE) {
                Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => link_and_unlink(temporary, target),
                outcome => outcome,
            }
        };
        match renamed {
            Err(Errno::EXIST) => Err(OutputError::Exists(self.given.clone())),
            outcome => outcome.map_err(OutputError::system(&self.given, "give the finished file its name")),
        }
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        let mut temporaries = temporaries();
        if let Some(place) = temporaries.iter().position(|path| *path == self.temporary) {
            temporaries.swap_remove(place);
            // Nothing is left to do about a failure here.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// The folder in which a path names something.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => Path::new("/"),
    }
}

/// A rename that never replaces, for file systems whose rename cannot promise that.
fn link_and_unlink(from: &Path, to: &Path) -> rustix::io::Result<()> {
    rustix::fs::link(from, to)?;
    rustix::fs::unlink(from)
}

/// Finds the file that `target` stands for and whether it may be written.
fn check_target<'a>(
    target: &Path,
    options: OutputOptions,
    inputs: impl IntoIterator<Item = &'a File>,
) -> Result<PathBuf, OutputError> {
    let as_given = || target.to_owned();
    match fs::metadata(target) {
        Ok(metadata) => {
            if !metadata.is_file() {
                return Err(OutputError::NotRegular { path: as_given(), kind: kind_of(&metadata) });
            }
            if inputs.into_iter().any(|input| is_same_file(input, &metadata)) {
                return Err(OutputError::IsInput(as_given()));
            }
            if !options.force {
                return Err(OutputError::Exists(as_given()));
            }
            fs::canonicalize(target).map_err(OutputError::system(target, "resolve this path"))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if fs::symlink_metadata(target).is_ok() && !options.force {
                return Err(OutputError::Exists(as_given()));
            }
            let names_no_file =
                target.file_name().is_none() || target.as_os_str().as_encoded_bytes().ends_with(b"/");
            if names_no_file {
                return Err(OutputError::NotRegular { path: as_given(), kind: "a folder's name" });
            }
            std::path::absolute(target).map_err(OutputError::system(target, "resolve this path"))
        }
        Err(error) => Err(OutputError::system(target, "look at this path")(error)),
    }
}

fn is_same_file(input: &File, target: &Metadata) -> bool {
    input.metadata().is_ok_and(|input| (input.dev(), input.ino()) == (target.dev(), target.ino()))
}

/// Creates a file under a name that nobody can guess, and lists it.
fn create_temporary(folder: &Path) -> io::Result<(PathBuf, File)> {
    let mut temporaries = temporaries();
    loop {
        // Every RandomState starts from keys the system drew at random.
        let number = RandomState::new().hash_one(std::process::id());
        let path = folder.join(format!(".weft-{number:016x}.tmp"));
        match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
            Ok(file) => {
                temporaries.push(path.clone());
                return Ok((path, file));
            }
        }
    }
}

/// From now on SIGINT, SIGTERM and SIGHUP remove this process's temporary files and end it with exit code
/// 128 + signal, and SIGXFSZ is ignored, so that a file-size limit is an ordinary error of the write.
///
/// A signal that the process was started to ignore stays ignored (`nohup`). For programs to call before the first output;
/// a program that embeds weft may prefer its own handling and call [`remove_temporaries`] from it.
pub fn remove_temporaries_on_signals() -> io::Result<()> {
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
    let ignored = ignored_signals();
    let handled = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let mut signals = signal_hook::iterator::Signals::new(handled)?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            // Held to the end, so that no new temporary file appears.
            let mut temporaries = temporaries();
            if !temporaries.is_empty() {
                remove_listed(&mut temporaries);
                let _ = io::stderr().write_all(b"weft: interrupted; no output was written\n");
            }
            signal_hook::low_level::exit(128 + signal);
        }
    })?;
    Ok(())
}

/// Removes all temporary files of this process that exist now; their [`OutputFile`]s can no longer be committed.
pub fn remove_temporaries() {
    remove_listed(&mut temporaries());
}

fn remove_listed(temporaries: &mut Vec<PathBuf>) {
    for path in temporaries.drain(..) {
        // Nothing is left to do about a failure here.
        let _ = fs::remove_file(path);
    }
}

/// The signals this process ignores, one bit each from signal 1; zero where the system does not tell.
fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    const FORCE: OutputOptions = OutputOptions { force: true, sync: false };

    fn create(target: &Path, options: OutputOptions) -> Result<OutputFile, OutputError> {
        OutputFile::create(target, options, [])
    }

    fn write(target: &Path, options: OutputOptions, text: &str) -> Result<(), OutputError> {
        let output = create(target, options)?;
        output.file().write_all(text.as_bytes()).unwrap();
        output.commit()
    }

    fn names_in(folder: &TempDir) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }

    #[test]
    fn a_committed_file_is_there_and_nothing_else() {
        let folder = TempDir::new().unwrap();
        let target = folder.path().join("out");
        write(&target, OutputOptions { force: false, sync: true }, "new").unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "new");
        assert_eq!(names_in(&folder), ["out"]);
    }

    #[test]
    fn a_dropped_file_leaves_nothing_and_touches_nothing() {
        let folder = TempDir::new().unwrap();
        let target = folder.path().join("out");
        fs::write(&target, "old").unwrap();
        let output = create(&target, FORCE).unwrap();
        output.file().write_all(b"half").unwrap();
        assert_eq!(names_in(&folder).len(), 2);
        drop(output);
        assert_eq!(names_in(&folder), ["out"]);
        assert_eq!(fs::read_to_string(&target).unwrap(), "old");
    }

    #[test]
    fn an_existing_file_is_replaced_only_by_force() {
        let folder = TempDir::new().unwrap();
        let target = folder.path().join("out");
        fs::write(&target, "old").unwrap();
        let error = write(&target, OutputOptions::default(), "new").unwrap_err();
        assert_eq!(error.to_string(), format!("{}: already exists", target.display()));
        write(&target, FORCE, "new").unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "new");
        assert_eq!(names_in(&folder), ["out"]);
    }

    #[test]
    fn a_name_taken_meanwhile_is_not_replaced() {
        let folder = TempDir::new().unwrap();
        let target = folder.path().join("out");
        let output = create(&target, OutputOptions::default()).unwrap();
        fs::write(&target, "theirs").unwrap();
        assert!(matches!(output.commit(), Err(OutputError::Exists(path)) if path == target));
        assert_eq!(fs::read_to_string(&target).unwrap(), "theirs");
        assert_eq!(names_in(&folder), ["out"]);
    }

    #[test]
    fn the_rename_for_other_file_systems_does_not_replace_either() {
        let folder = TempDir::new().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::write(&from, "new").unwrap();
        fs::write(&to, "old").unwrap();
        assert_eq!(link_and_unlink(&from, &to), Err(Errno::EXIST));
        fs::remove_file(&to).unwrap();
        link_and_unlink(&from, &to).unwrap();
        assert_eq!(names_in(&folder), ["to"]);
    }

    #[test]
    fn an_input_is_never_the_output_by_any_name() {
        let folder = TempDir::new().unwrap();
        let input = folder.path().join("input");
        fs::write(&input, "data").unwrap();
        let (link, hard) = (folder.path().join("link"), folder.path().join("hard"));
        std::os::unix::fs::symlink("input", &link).unwrap();
        fs::hard_link(&input, &hard).unwrap();
        let open = File::open(&input).unwrap();
        for target in [&input, &link, &hard, &folder.path().join(".").join("input")] {
            let error = OutputFile::create(target, FORCE, [&open]).unwrap_err();
            assert!(matches!(error, OutputError::IsInput(_)), "{error}");
        }
        assert_eq!(names_in(&folder), ["hard", "input", "link"]);
    }

    #[test]
    fn a_link_stands_for_its_file() {
        let folder = TempDir::new().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("real", &link).unwrap();
        assert!(matches!(create(&link, OutputOptions::default()), Err(OutputError::Exists(_))), "dangling");
        fs::write(folder.path().join("real"), "old").unwrap();
        assert!(matches!(create(&link, OutputOptions::default()), Err(OutputError::Exists(_))));
        write(&link, FORCE, "new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(folder.path().join("real")).unwrap(), "new");
    }

    #[test]
    fn what_cannot_be_a_file_is_refused() {
        let folder = TempDir::new().unwrap();
        let cases = [
            (folder.path().to_owned(), "a folder"),
            (folder.path().join("new/"), "a folder's name"),
            (PathBuf::from("/dev/null"), "a device"),
        ];
        for (target, expected) in cases {
            let error = create(&target, FORCE).unwrap_err();
            assert_eq!(error.to_string(), format!("{}: not a regular file but {expected}", target.display()));
            assert!(!error.is_system());
        }
        let nowhere = folder.path().join("missing").join("out");
        let error = create(&nowhere, FORCE).unwrap_err();
        assert!(error.is_system());
        assert!(
            error.to_string().contains("missing: cannot create a file in this folder: No such file"),
            "{error}"
        );
        assert_eq!(names_in(&folder), Vec::<String>::new());
    }

    #[test]
    fn reserved_space_has_its_length() {
        let folder = TempDir::new().unwrap();
        let output = create(&folder.path().join("out"), FORCE).unwrap();
        output.reserve(0).unwrap();
        output.reserve(12_345).unwrap();
        assert_eq!(output.file().metadata().unwrap().len(), 12_345);
        assert!(output.reserve(u64::MAX >> 1).unwrap_err().is_system());
    }
}
