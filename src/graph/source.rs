//! Where files come from: the shipped ones, which are embedded in the binary, and those of folders and paths that the
//! user names. Nothing here knows what is in them.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use include_dir::{Dir, include_dir};

use super::diagnostic::Diagnostic;
use super::document::{FileId, Span};

static SHIPPED_PASSES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/passes");
static SHIPPED_GRAPHS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/graphs");
static SHIPPED_SHADERS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/shaders");

/// The largest pass, graph or shader file that is read, in bytes.
pub const FILE_BYTES_MAX: u64 = 1 << 20;

/// How many folders deep a pass root is listed.
const FOLDER_DEPTH_MAX: usize = 8;

/// The file of a pass root that declares types instead of a pass.
const TYPES_FILE: &str = "types.yaml";

/// A file that was opened.
#[derive(Clone, Debug)]
struct SourceFile {
    name: String,
    text: String,
}

/// The texts of all files that were opened, in the order in which they were.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// Adds a file. `name` is what messages call it. A text past `u32::MAX` bytes is cut.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        let mut text = text.into();
        let longest = u32::MAX as usize - 1;
        if text.len() > longest {
            text.truncate(text.floor_char_boundary(longest));
        }
        let id = FileId(u32::try_from(self.files.len()).expect("fewer than 2^32 files fit memory"));
        self.files.push(SourceFile { name: name.into(), text });
        id
    }

    /// What messages call the file.
    pub fn name(&self, file: FileId) -> &str {
        &self.files[file.0 as usize].name
    }

    /// Its text.
    pub fn text(&self, file: FileId) -> &str {
        &self.files[file.0 as usize].text
    }

    /// The text at a place.
    pub fn slice(&self, span: Span) -> &str {
        &self.text(span.file)[self.clamp(span)]
    }

    /// The bytes of a span, made to lie in the file and on character boundaries.
    pub fn clamp(&self, span: Span) -> std::ops::Range<usize> {
        let text = self.text(span.file);
        let start = text.floor_char_boundary((span.start as usize).min(text.len()));
        let end = text.ceil_char_boundary((span.end as usize).min(text.len()));
        start..end.max(start)
    }

    /// The whole file.
    pub fn whole(&self, file: FileId) -> Span {
        Span { file, start: 0, end: self.text(file).len() as u32 }
    }

    /// The first place inside `span` where `word` stands as a whole word, else `span` itself: the place of a name
    /// inside an expression.
    pub fn find_word(&self, span: Span, word: &str) -> Span {
        let part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '/';
        let text = self.slice(span);
        for (offset, _) in text.match_indices(word) {
            let before = text[..offset].chars().next_back();
            let after = text[offset + word.len()..].chars().next();
            if !before.is_some_and(part) && !after.is_some_and(part) {
                let start = self.clamp(span).start + offset;
                return Span { file: span.file, start: start as u32, end: (start + word.len()) as u32 };
            }
        }
        span
    }

    /// Line and column of a byte, both from 1; columns count characters.
    pub fn line_column(&self, file: FileId, byte: u32) -> (usize, usize) {
        let range = self.clamp(Span { file, start: byte, end: byte });
        let before = &self.text(file)[..range.start];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }

    /// The byte at a line and column, both from 1; columns count characters. The end of the file if it is shorter.
    pub fn byte_at(&self, file: FileId, line: usize, column: usize) -> u32 {
        let text = self.text(file);
        let line_start = match line {
            0 | 1 => 0,
            _ => text.match_indices('\n').nth(line - 2).map_or(text.len(), |(newline, _)| newline + 1),
        };
        let rest = &text[line_start..];
        let offset =
            rest.char_indices().nth(column.saturating_sub(1)).map_or(rest.len(), |(offset, _)| offset);
        (line_start + offset) as u32
    }
}

/// The kinds of files that are looked up by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Pass files.
    Pass,
    /// Graph files and overlays.
    Graph,
    /// WGSL.
    Shader,
}

impl Kind {
    fn shipped(self) -> &'static Dir<'static> {
        match self {
            Kind::Pass => &SHIPPED_PASSES,
            Kind::Graph => &SHIPPED_GRAPHS,
            Kind::Shader => &SHIPPED_SHADERS,
        }
    }

    fn folder(self) -> &'static str {
        match self {
            Kind::Pass => "passes",
            Kind::Graph => "graphs",
            Kind::Shader => "shaders",
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Kind::Pass => "pass",
            Kind::Graph => "graph",
            Kind::Shader => "shader file",
        }
    }
}

/// Where a file is, which decides what its relative paths and shader names mean.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Location {
    /// Embedded: kind and path below its folder.
    Shipped(Kind, PathBuf),
    /// On disk.
    Disk(PathBuf),
}

#[derive(Clone, Debug)]
struct Opened {
    location: Location,
    /// The pass root it was found in, for files of `--passes` folders.
    root: Option<PathBuf>,
    /// The name it was found under; none for a file given by path.
    name: Option<String>,
}

/// Finds and opens files. Each file is opened once and keeps its [`FileId`].
#[derive(Debug, Default)]
pub struct Library {
    pass_folders: Vec<PathBuf>,
    shader_folders: Vec<PathBuf>,
    sources: SourceMap,
    opened: Vec<Opened>,
    ids: HashMap<Location, FileId>,
}

impl Library {
    /// A library that looks into these folders, in order, before the shipped files.
    pub fn new(pass_folders: Vec<PathBuf>, shader_folders: Vec<PathBuf>) -> Library {
        Library { pass_folders, shader_folders, ..Library::default() }
    }

    /// The texts of all files opened so far.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// The name that the file must give itself in its head; none if it was given by path.
    pub fn name_in_root(&self, file: FileId) -> Option<&str> {
        self.opened[file.0 as usize].name.as_deref()
    }

    /// Whether a file is one of those that weft ships.
    pub fn is_shipped(&self, file: FileId) -> bool {
        matches!(self.opened[file.0 as usize].location, Location::Shipped(..))
    }

    /// Opens what a file calls `name`, at `at`: a pass or graph by name or by a path that starts with `./` or `../`.
    pub fn open(&mut self, kind: Kind, name: &str, at: Span) -> Result<FileId, Box<Diagnostic>> {
        match is_relative_path(name) {
            true => self.open_relative(name, at),
            false => self.open_named(kind, name, Some(at)),
        }
    }

    /// Opens what the command line calls `argument`: a path if it starts with `.` or `/` or ends in `.yaml`, else a
    /// name.
    pub fn open_argument(&mut self, kind: Kind, argument: &str) -> Result<FileId, Box<Diagnostic>> {
        let path =
            argument.starts_with(['.', '/']) || argument.ends_with(".yaml") || argument.ends_with(".yml");
        match path {
            true => self.open_path(Path::new(argument), None),
            false => self.open_named(kind, argument, None),
        }
    }

    /// Opens a text as if it were a file on disk at `path`, for tests and for graphs built by programs.
    pub fn open_text(&mut self, path: impl Into<PathBuf>, text: impl Into<String>) -> FileId {
        let path = path.into();
        let display = path.display().to_string();
        self.keep(Location::Disk(path), display, text.into(), None, None)
    }

    /// Opens every `types.yaml`: the shipped one, then those of the given pass folders.
    pub fn open_types(&mut self) -> Result<Vec<FileId>, Box<Diagnostic>> {
        let mut files = Vec::new();
        if SHIPPED_PASSES.get_file(TYPES_FILE).is_some() {
            files.push(self.open_shipped(Kind::Pass, PathBuf::from(TYPES_FILE), None, None)?);
        }
        for folder in self.pass_folders.clone() {
            let path = folder.join(TYPES_FILE);
            if path.is_file() {
                files.push(self.open_disk(path, Some(folder), None, None)?);
            }
        }
        Ok(files)
    }

    /// The names of all passes or graphs that can be opened by name, sorted.
    pub fn names(&self, kind: Kind) -> Vec<String> {
        let mut names = BTreeSet::new();
        list_shipped(kind.shipped(), &mut names);
        if kind == Kind::Pass {
            for folder in &self.pass_folders {
                list_folder(folder, "", 0, &mut names);
            }
            names.remove(TYPES_FILE.trim_end_matches(".yaml"));
        }
        names.into_iter().collect()
    }

    fn open_relative(&mut self, name: &str, at: Span) -> Result<FileId, Box<Diagnostic>> {
        match self.opened[at.file.0 as usize].location.clone() {
            Location::Disk(path) => {
                let folder = path.parent().unwrap_or(Path::new(""));
                self.open_path(&folder.join(name), Some(at))
            }
            Location::Shipped(own_kind, path) => {
                let path = lexically_normal(&path.parent().unwrap_or(Path::new("")).join(name));
                self.open_shipped(own_kind, path, None, Some(at))
            }
        }
    }

    fn open_named(&mut self, kind: Kind, name: &str, at: Option<Span>) -> Result<FileId, Box<Diagnostic>> {
        if let Err(problem) = check_name(name) {
            return Err(Box::new(Diagnostic::maybe_at(at, format!("`{name}` {problem}"))));
        }
        let file = match kind {
            Kind::Shader => PathBuf::from(name),
            Kind::Pass | Kind::Graph => PathBuf::from(format!("{name}.yaml")),
        };
        for (folder, root) in self.folders(kind, at) {
            let path = folder.join(&file);
            if path.is_file() {
                return self.open_disk(path, root, Some(name.to_string()), at);
            }
        }
        if kind.shipped().get_file(&file).is_some() {
            return self.open_shipped(kind, file, Some(name.to_string()), at);
        }
        Err(Box::new(self.not_found(kind, name, at)))
    }

    /// Folders to look in, each with the pass root it belongs to.
    fn folders(&self, kind: Kind, at: Option<Span>) -> Vec<(PathBuf, Option<PathBuf>)> {
        match kind {
            Kind::Pass => self.pass_folders.iter().map(|f| (f.clone(), Some(f.clone()))).collect(),
            Kind::Graph => Vec::new(),
            Kind::Shader => {
                let own_root = at.and_then(|span| self.opened[span.file.0 as usize].root.clone());
                let beside = own_root.map(|root| [root.clone(), root.join("../shaders")]);
                self.shader_folders
                    .iter()
                    .cloned()
                    .chain(beside.into_iter().flatten())
                    .map(|f| (f, None))
                    .collect()
            }
        }
    }

    fn not_found(&self, kind: Kind, name: &str, at: Option<Span>) -> Diagnostic {
        let noun = kind.noun();
        let diagnostic = Diagnostic::maybe_at(at, format!("there is no {noun} `{name}`"));
        let names = match kind {
            Kind::Shader => shipped_files(&SHIPPED_SHADERS),
            _ => self.names(kind),
        };
        let folders: Vec<String> = self.folders(kind, at).iter().map(|(folder, _)| shown(folder)).collect();
        let searched = match folders.is_empty() {
            true if kind == Kind::Graph && at.is_none() => {
                "only shipped graphs were searched; the path of a graph file ends in .yaml".to_owned()
            }
            true => format!("only shipped {} were searched", plural(kind)),
            false => format!("searched {} and what is shipped", folders.join(", ")),
        };
        diagnostic.note(searched).suggest(name, names.iter().map(String::as_str))
    }

    fn open_path(&mut self, path: &Path, at: Option<Span>) -> Result<FileId, Box<Diagnostic>> {
        if !path.is_file() {
            return Err(Box::new(Diagnostic::maybe_at(at, format!("there is no file {}", shown(path)))));
        }
        self.open_disk(path.to_path_buf(), None, None, at)
    }

    fn open_disk(
        &mut self,
        path: PathBuf,
        root: Option<PathBuf>,
        name: Option<String>,
        at: Option<Span>,
    ) -> Result<FileId, Box<Diagnostic>> {
        let unreadable = |reason: String| {
            Box::new(Diagnostic::maybe_at(at, format!("cannot read {}: {reason}", shown(&path))))
        };
        let canonical = path.canonicalize().map_err(|error| unreadable(error.to_string()))?;
        let location = Location::Disk(canonical);
        if let Some(id) = self.ids.get(&location) {
            return Ok(*id);
        }
        let text = read_limited(&path).map_err(unreadable)?;
        let display = shown(&path);
        let id = self.keep(Location::Disk(path), display, text, root, name);
        self.ids.insert(location, id);
        Ok(id)
    }

    fn open_shipped(
        &mut self,
        kind: Kind,
        path: PathBuf,
        name: Option<String>,
        at: Option<Span>,
    ) -> Result<FileId, Box<Diagnostic>> {
        let display = format!("<shipped>/{}/{}", kind.folder(), path.display());
        let location = Location::Shipped(kind, path.clone());
        if let Some(id) = self.ids.get(&location) {
            return Ok(*id);
        }
        let text = kind.shipped().get_file(&path).and_then(|file| file.contents_utf8());
        match text {
            Some(text) => {
                let id = self.keep(location.clone(), display, text.to_string(), None, name);
                self.ids.insert(location, id);
                Ok(id)
            }
            None => Err(Box::new(Diagnostic::maybe_at(at, format!("there is no shipped file {display}")))),
        }
    }

    fn keep(
        &mut self,
        location: Location,
        display: String,
        text: String,
        root: Option<PathBuf>,
        name: Option<String>,
    ) -> FileId {
        let id = self.sources.add(display, text);
        self.opened.push(Opened { location, root, name });
        id
    }
}

fn plural(kind: Kind) -> &'static str {
    match kind {
        Kind::Pass => "passes",
        Kind::Graph => "graphs",
        Kind::Shader => "shader files",
    }
}

/// Whether an argument of the command line is a path rather than a name.
pub fn is_path_argument(argument: &str) -> bool {
    argument.starts_with(['.', '/']) || argument.ends_with(".yaml") || argument.ends_with(".yml")
}

/// Whether a name in a file is a path relative to that file.
pub fn is_relative_path(name: &str) -> bool {
    name.starts_with("./") || name.starts_with("../")
}

/// What is wrong with a name that is looked up below a root, if anything is.
fn check_name(name: &str) -> Result<(), &'static str> {
    let letters =
        |part: &str| part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
    match name {
        _ if name.starts_with('/') => Err("is an absolute path; a path starts with `./` or `../`"),
        _ if name.is_empty() || name.split('/').any(|part| part.is_empty() || part.starts_with('.')) => {
            Err("is not a name; a name is words separated by `/`")
        }
        _ if !name.split('/').all(letters) => {
            Err("is not a name; names have letters, digits, `_`, `-`, `.` and `/`")
        }
        _ => Ok(()),
    }
}

fn read_limited(path: &Path) -> Result<String, String> {
    let file = fs::File::open(path).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(format!("it is larger than {FILE_BYTES_MAX} bytes"));
    }
    String::from_utf8(bytes)
        .map_err(|error| format!("it is not UTF-8 at byte {}", error.utf8_error().valid_up_to()))
}

fn shown(path: &Path) -> String {
    lexically_normal(path).display().to_string()
}

/// A path without `.`, and without `..` behind a folder: for messages, and for paths inside the embedded folders.
fn lexically_normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        let below_folder = matches!(normal.components().next_back(), Some(Component::Normal(_)));
        match component {
            Component::CurDir => {}
            Component::ParentDir if below_folder => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

fn shipped_files(folder: &Dir<'static>) -> Vec<String> {
    let mut pending = vec![folder];
    let mut files = Vec::new();
    while let Some(folder) = pending.pop() {
        files.extend(folder.files().map(|file| file.path().display().to_string()));
        pending.extend(folder.dirs());
    }
    files.sort();
    files
}

fn list_shipped(folder: &Dir<'static>, names: &mut BTreeSet<String>) {
    let files = shipped_files(folder);
    names.extend(files.iter().filter_map(|file| file.strip_suffix(".yaml")).map(str::to_string));
}

fn list_folder(folder: &Path, prefix: &str, depth: usize, names: &mut BTreeSet<String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let file_name = entry.file_name();
        let Some(file_name) = file_name.to_str() else { continue };
        let path = entry.path();
        if path.is_dir() && depth < FOLDER_DEPTH_MAX {
            list_folder(&path, &format!("{prefix}{file_name}/"), depth + 1, names);
        } else if let Some(stem) = file_name.strip_suffix(".yaml")
            && path.is_file()
        {
            names.insert(format!("{prefix}{stem}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns() {
        let mut sources = SourceMap::default();
        let file = sources.add("f", "ab\né=c\n\nx");
        for (byte, line, column) in
            [(0, 1, 1), (2, 1, 3), (3, 2, 1), (5, 2, 2), (8, 3, 1), (9, 4, 1), (10, 4, 2)]
        {
            assert_eq!(sources.line_column(file, byte), (line, column), "byte {byte}");
            assert_eq!(sources.byte_at(file, line, column), byte, "line {line} column {column}");
        }
        assert_eq!(sources.byte_at(file, 99, 1), 10);
        assert_eq!(sources.clamp(Span { file, start: 4, end: 99 }), 3..10);
    }

    #[test]
    fn words() {
        let mut sources = SourceMap::default();
        let file = sources.add("f", "an + n * n_n");
        let span = sources.whole(file);
        assert_eq!(sources.find_word(span, "n"), Span { file, start: 5, end: 6 });
        assert_eq!(sources.find_word(span, "m"), span);
    }

    #[test]
    fn folders_come_before_what_is_shipped() {
        let folder = tempfile::tempdir().unwrap();
        let passes = folder.path().join("passes");
        fs::create_dir_all(passes.join("own")).unwrap();
        fs::create_dir_all(folder.path().join("shaders/shared")).unwrap();
        fs::write(passes.join("own/one.yaml"), "one").unwrap();
        fs::write(passes.join("own/one.wgsl"), "beside").unwrap();
        fs::write(passes.join("types.yaml"), "types: {}").unwrap();
        fs::write(folder.path().join("shaders/shared/grid.wgsl"), "mine").unwrap();

        let mut library = Library::new(vec![passes.clone()], Vec::new());
        assert!(library.names(Kind::Pass).contains(&"own/one".to_string()));
        assert!(!library.names(Kind::Pass).contains(&"types".to_string()));
        let one = library.open_argument(Kind::Pass, "own/one").unwrap();
        assert_eq!(library.name_in_root(one), Some("own/one"));
        let at = library.sources().whole(one);
        for (name, text) in
            [("own/one.wgsl", "beside"), ("shared/grid.wgsl", "mine"), ("./one.wgsl", "beside")]
        {
            let shader = library.open(Kind::Shader, name, at).unwrap();
            assert_eq!(library.sources().text(shader), text, "{name}");
        }
        assert_eq!(library.open_argument(Kind::Pass, "own/one"), Ok(one));
        let path = passes.join("own/one.yaml").display().to_string();
        assert_eq!(library.open_argument(Kind::Pass, &path), Ok(one));

        let mut plain = Library::new(Vec::new(), Vec::new());
        let by_path = plain.open_argument(Kind::Pass, &path).unwrap();
        assert_eq!(plain.name_in_root(by_path), None);
        assert!(!plain.is_shipped(by_path));
        let at = plain.sources().whole(by_path);
        let shipped = plain.open(Kind::Shader, "shared/grid.wgsl", at).unwrap();
        assert_eq!(plain.sources().name(shipped), "<shipped>/shaders/shared/grid.wgsl");
        assert!(plain.is_shipped(shipped));
    }

    #[test]
    fn names_that_are_not_found() {
        let mut library = Library::new(Vec::new(), Vec::new());
        for (name, message) in [
            ("no/such", "there is no pass `no/such`"),
            ("a//b", "`a//b` is not a name; a name is words separated by `/`"),
            ("a/../b", "`a/../b` is not a name; a name is words separated by `/`"),
            ("a b", "`a b` is not a name; names have letters, digits, `_`, `-`, `.` and `/`"),
            ("./no.yaml", "there is no file no.yaml"),
            ("/", "there is no file /"),
        ] {
            assert_eq!(library.open_argument(Kind::Pass, name).unwrap_err().message, message);
        }
        let file = library.open_text("here.yaml", "text");
        let at = library.sources().whole(file);
        let error = library.open(Kind::Shader, "shared/gird.wgsl", at).unwrap_err();
        assert_eq!(error.help.as_deref(), Some("did you mean `shared/grid.wgsl`?"));
    }

    #[test]
    fn files_that_cannot_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let binary = folder.path().join("binary.yaml");
        let large = folder.path().join("large.yaml");
        fs::write(&binary, b"ab\xff").unwrap();
        fs::write(&large, vec![b' '; FILE_BYTES_MAX as usize + 1]).unwrap();
        let mut library = Library::new(Vec::new(), Vec::new());
        for (path, reason) in
            [(binary, "it is not UTF-8 at byte 2"), (large, "it is larger than 1048576 bytes")]
        {
            let path = path.display().to_string();
            let message = library.open_argument(Kind::Graph, &path).unwrap_err().message;
            assert_eq!(message, format!("cannot read {path}: {reason}"));
        }
    }
}
