//! A pass: what its file says, what its shader was found to be, and the checks that the two agree.

use super::document::{FileId, Layout, PassFile, Port};
use super::model::ElementType;

/// The element type of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PortType {
    /// A declared type, or a plain layout under its own name.
    Element(ElementType),
    /// A generic of the pass, with its layout: the wiring of a node decides the type.
    Generic {
        /// The name of the generic.
        name: String,
        /// Its layout.
        layout: Layout,
    },
}

impl PortType {
    /// The memory layout of one element.
    pub fn layout(&self) -> Layout {
        match self {
            PortType::Element(element) => element.layout,
            PortType::Generic { layout, .. } => *layout,
        }
    }
}

/// A pass that can be placed in graphs.
#[derive(Debug)]
pub struct Pass {
    /// The pass file.
    pub source: FileId,
    /// What it says.
    pub file: PassFile,
    /// The element type of each port, in the order of `file.ports`.
    pub types: Vec<PortType>,
}

impl Pass {
    /// Its name: `scan/tile_sums`.
    pub fn name(&self) -> &str {
        &self.file.name.value
    }

    /// Index of a port.
    pub fn port_index(&self, name: &str) -> Option<usize> {
        self.file.ports.iter().position(|(port, _)| port.value == name)
    }

    /// A port by index.
    pub fn port(&self, index: usize) -> &Port {
        &self.file.ports[index].1
    }
}
