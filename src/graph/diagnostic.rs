//! What is wrong with the files, where, and what to do: collected over all files, shown together with carets.

use std::collections::BTreeMap;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::document::{FileId, Span};
use super::source::SourceMap;

/// Columns that a rendered diagnostic fits in.
const RENDER_COLUMNS: usize = 120;

/// A place and what is to be said about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// The text beside the carets; may be empty.
    pub text: String,
}

/// One error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// Where; none if the error is not in a file.
    pub primary: Option<Label>,
    /// Other places that matter, in any file.
    pub secondary: Vec<Label>,
    /// Facts that explain the error.
    pub notes: Vec<String>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn at(span: Span, message: impl Into<String>) -> Diagnostic {
        let primary = Label { span, text: String::new() };
        Diagnostic { primary: Some(primary), ..Diagnostic::nowhere(message) }
    }

    /// An error that is in no file, such as a name on the command line.
    pub fn nowhere(message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            message: message.into(),
            primary: None,
            secondary: Vec::new(),
            notes: Vec::new(),
            help: None,
        }
    }

    /// An error at a place if there is one.
    pub fn maybe_at(span: Option<Span>, message: impl Into<String>) -> Diagnostic {
        match span {
            Some(span) => Diagnostic::at(span, message),
            None => Diagnostic::nowhere(message),
        }
    }

    /// Adds the text beside the primary carets.
    pub fn label(mut self, text: impl Into<String>) -> Diagnostic {
        if let Some(primary) = &mut self.primary {
            primary.text = text.into();
        }
        self
    }

    /// Adds another place.
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.secondary.push(Label { span, text: text.into() });
        self
    }

    /// Adds a fact.
    pub fn note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(text.into());
        self
    }

    /// Says what to do.
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }

    /// Offers the candidate that looks most like `name`, if one does.
    pub fn suggest<'a>(mut self, name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Diagnostic {
        if let Some(candidate) = nearest(name, candidates) {
            self.help = Some(format!("did you mean `{candidate}`?"));
        }
        self
    }

    /// The text that people see.
    pub fn render(&self, sources: &SourceMap, color: bool) -> String {
        let mut group = Group::with_title(Level::ERROR.primary_title(self.message.as_str()));
        for snippet in self.snippets(sources) {
            group = group.element(snippet);
        }
        for note in &self.notes {
            group = group.element(Level::NOTE.message(note.as_str()));
        }
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        renderer.decor_style(DecorStyle::Ascii).term_width(RENDER_COLUMNS).render(&[group])
    }

    /// One snippet a file, the primary's first.
    fn snippets<'a>(&'a self, sources: &'a SourceMap) -> Vec<Snippet<'a, annotate_snippets::Annotation<'a>>> {
        let primary = self.primary.iter().map(|label| (AnnotationKind::Primary, label));
        let secondary = self.secondary.iter().map(|label| (AnnotationKind::Context, label));
        let mut files: Vec<FileId> = Vec::new();
        let mut annotations: BTreeMap<FileId, Vec<_>> = BTreeMap::new();
        for (kind, label) in primary.chain(secondary) {
            if !files.contains(&label.span.file) {
                files.push(label.span.file);
            }
            let range = sources.clamp(label.span);
            let text = (!label.text.is_empty()).then_some(label.text.as_str());
            annotations.entry(label.span.file).or_default().push(kind.span(range).label(text));
        }
        let mut snippet = |file: &FileId| {
            let annotations = annotations.remove(file).unwrap_or_default();
            Snippet::source(sources.text(*file)).path(sources.name(*file)).annotations(annotations)
        };
        files.iter().map(&mut snippet).collect()
    }
}

/// Errors, as they are found.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    found: Vec<Diagnostic>,
}

impl Diagnostics {
    /// No errors.
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }

    /// Adds one and gives it back to be completed.
    pub fn push_mut(&mut self, diagnostic: Diagnostic) -> &mut Diagnostic {
        let index = self.found.len();
        self.found.push(diagnostic);
        &mut self.found[index]
    }

    /// Adds all of another list.
    pub fn append(&mut self, other: Diagnostics) {
        self.found.extend(other.found);
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// How many were found, duplicates included.
    pub fn len(&self) -> usize {
        self.found.len()
    }

    /// All of them by place: in the order in which the files were opened, then by position; those of no file first.
    /// Equal ones are given once.
    pub fn sorted(&self) -> Vec<&Diagnostic> {
        let mut sorted: Vec<&Diagnostic> = self.found.iter().collect();
        sorted.sort_by_key(|d| d.primary.as_ref().map(|label| label.span));
        let mut unique: Vec<&Diagnostic> = Vec::with_capacity(sorted.len());
        for diagnostic in sorted {
            let place = |d: &Diagnostic| d.primary.as_ref().map(|label| label.span);
            let mut same_place = unique.iter().rev().take_while(|d| place(d) == place(diagnostic));
            if !same_place.any(|d| *d == diagnostic) {
                unique.push(diagnostic);
            }
        }
        unique
    }

    /// The text that people see: all of them, with an empty line between two, ending in a newline.
    pub fn render(&self, sources: &SourceMap, color: bool) -> String {
        let mut text = String::new();
        for diagnostic in self.sorted() {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&diagnostic.render(sources, color));
            text.push('\n');
        }
        text
    }
}

/// The candidate with the smallest edit distance to `name`, if that is at most a third of its length, and at most 4.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (name.chars().count() / 3).min(4);
    candidates
        .into_iter()
        .map(|candidate| (edit_distance(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min()
        .map(|(_, candidate)| candidate)
}

/// The least number of characters inserted, left out, replaced, or swapped with their neighbour (optimal string
/// alignment), in lower case.
fn edit_distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.to_lowercase().chars().collect();
    let right: Vec<char> = right.to_lowercase().chars().collect();
    let mut distance = vec![vec![0; right.len() + 1]; left.len() + 1];
    for i in 0..=left.len() {
        for j in 0..=right.len() {
            if i == 0 || j == 0 {
                distance[i][j] = i + j;
                continue;
            }
            let replaced = distance[i - 1][j - 1] + usize::from(left[i - 1] != right[j - 1]);
            let mut least = replaced.min(distance[i - 1][j] + 1).min(distance[i][j - 1] + 1);
            if i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] {
                least = least.min(distance[i - 2][j - 2] + 1);
            }
            distance[i][j] = least;
        }
    }
    distance[left.len()][right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_names() {
        let names = ["access", "accumulate", "len", "type"];
        assert_eq!(nearest("acess", names), Some("access"));
        assert_eq!(nearest("LEN", names), Some("len"));
        assert_eq!(nearest("length", names), None);
        assert_eq!(nearest("typ", names), Some("type"));
        assert_eq!(nearest("tpye", names), Some("type"));
        assert_eq!(nearest("", names), None);
        assert_eq!(nearest("k", ["m", "K"]), Some("K"));
    }

    #[test]
    fn sorted_by_place_and_unique() {
        let mut sources = SourceMap::default();
        let first = sources.add("first.yaml", "one two");
        let second = sources.add("second.yaml", "three");
        let span = |file, start, end| Span { file, start, end };
        let mut diagnostics = Diagnostics::new();
        diagnostics.push(Diagnostic::at(span(second, 0, 5), "c").also(span(first, 0, 3), "see here"));
        diagnostics.push(Diagnostic::at(span(first, 4, 7), "b").label("here").help("none"));
        diagnostics.push(Diagnostic::at(span(first, 0, 3), "a").note("a fact"));
        diagnostics.push(Diagnostic::at(span(first, 4, 7), "b").label("here").help("none"));
        diagnostics.push(Diagnostic::nowhere("nowhere"));
        let expected = "\
error: nowhere

error: a
 --> first.yaml:1:1
  |
1 | one two
  | ^^^
  |
  = note: a fact

error: b
 --> first.yaml:1:5
  |
1 | one two
  |     ^^^ here
  |
  = help: none

error: c
 --> second.yaml:1:1
  |
1 | three
  | ^^^^^
  |
 ::: first.yaml:1:1
  |
1 | one two
  | --- see here
";
        assert_eq!(diagnostics.render(&sources, false), expected);
    }
}
