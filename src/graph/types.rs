//! Declared element types: names over layouts.

use std::collections::BTreeMap;

use super::diagnostic::{Diagnostic, Diagnostics};
use super::document::{Layout, Named, Span, TypeDecl};

/// A declared element type.
#[derive(Clone, Debug)]
pub struct DeclaredType {
    /// Its memory layout.
    pub layout: Layout,
    /// What an element means.
    pub doc: String,
    /// Where it is declared.
    pub span: Span,
}

/// Declared element types by name. A name is declared once.
#[derive(Clone, Debug, Default)]
pub struct Types {
    declared: BTreeMap<String, DeclaredType>,
}

impl Types {
    /// Adds declarations; a name that is there already is an error. Declaring the same again at the same place is not.
    pub fn declare(&mut self, declarations: &Named<TypeDecl>, diagnostics: &mut Diagnostics) {
        for (name, declaration) in declarations {
            let declared = DeclaredType {
                layout: declaration.layout.value,
                doc: declaration.doc.clone(),
                span: name.span,
            };
            match self.declared.get(&name.value) {
                None => {
                    self.declared.insert(name.value.clone(), declared);
                }
                Some(first) if first.span == name.span => {}
                Some(first) => {
                    let message = format!("the type `{}` is declared twice", name.value);
                    let diagnostic = Diagnostic::at(name.span, message);
                    diagnostics.push(diagnostic.also(first.span, "first declared here"));
                }
            }
        }
    }

    /// A declared type.
    pub fn get(&self, name: &str) -> Option<&DeclaredType> {
        self.declared.get(name)
    }

    /// The names of all declared types.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.declared.keys().map(String::as_str)
    }
}
