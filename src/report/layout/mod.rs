//! Places a [`Diagram`]: boxes in layers from top to bottom, arrows that run down between them.
//!
//! The phases of a layered drawing (Sugiyama, Tagawa and Toda 1981), one file each: [`rank`] chooses layers, [`order`]
//! the order within them and that of the ports, [`shape`] sizes boxes, [`place`] chooses horizontal places, [`route`]
//! runs the arrows. Arrows from one output share one trunk, and every arrow is made of vertical and horizontal pieces
//! between the layers, so that none passes through a box. Equal diagrams give equal layouts.
//!
//! Units are CSS pixels; `y` grows downwards. Text is measured as if every character of a monospaced font were 0.605 em
//! wide, which holds for the usual ones.

mod order;
mod place;
mod rank;
mod route;
mod shape;
mod simplex;

pub(super) use route::GUTTER_CHARS;
pub use shape::{Anchor, Role, Text, shorten};

use super::diagram::{Diagram, DiagramError};

/// A rectangle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rect {
    /// Left edge.
    pub x: i64,
    /// Upper edge.
    pub y: i64,
    /// Width.
    pub w: i64,
    /// Height.
    pub h: i64,
}

impl Rect {
    /// The right edge.
    pub fn right(&self) -> i64 {
        self.x + self.w
    }

    /// The lower edge.
    pub fn bottom(&self) -> i64 {
        self.y + self.h
    }

    /// Whether the two share more than an edge.
    pub fn overlaps(&self, other: &Rect) -> bool {
        self.x < other.right() && other.x < self.right() && self.y < other.bottom() && other.y < self.bottom()
    }
}

/// A box in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedNode {
    /// The box.
    pub rect: Rect,
    /// Where each input lies on the upper edge, by input.
    pub inputs: Vec<i64>,
    /// Where each output lies on the lower edge, by output.
    pub outputs: Vec<i64>,
    /// Ticks that lead from an input to its name, as x, upper and lower y.
    pub ticks: Vec<(i64, i64, i64)>,
    /// What is written in the box and, about its outputs, below it.
    pub texts: Vec<Text>,
}

/// The way of an arrow.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// Its corners from the output to the input. Pieces are alternately vertical and horizontal, none runs upwards.
    pub points: Vec<(i64, i64)>,
    /// One of [`HUES`] colours, the same for all arrows from one output and another for its neighbours where possible.
    pub hue: usize,
}

/// How many colours arrows take.
pub const HUES: usize = 8;

/// A frame around boxes.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Its name.
    pub name: String,
    /// How many frames it lies in.
    pub depth: usize,
    /// Where it is.
    pub rect: Rect,
    /// Left end and baseline of its name.
    pub label: (i64, i64),
}

/// The band of a segment; it runs across the whole drawing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Band {
    /// Upper edge: the line at which the host waits, for all but the first.
    pub top: i64,
    /// Lower edge.
    pub bottom: i64,
}

/// A placed diagram.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// Width of all of it.
    pub width: i64,
    /// Height of all of it.
    pub height: i64,
    /// Width of the margin at the left in which texts about bands stand.
    pub gutter: i64,
    /// Places of [`Diagram::nodes`].
    pub nodes: Vec<PlacedNode>,
    /// Ways of [`Diagram::edges`].
    pub routes: Vec<Route>,
    /// Frames, outer before inner.
    pub frames: Vec<Frame>,
    /// Bands of [`Diagram::segments`].
    pub bands: Vec<Band>,
}

/// Places a diagram. Fails only if the diagram is inconsistent.
pub fn layout(diagram: &Diagram) -> Result<Layout, DiagramError> {
    diagram.check()?;
    let ranks = rank::rank(diagram)?;
    let layered = order::order(diagram, &ranks);
    let shapes = shape::shapes(diagram, &layered);
    let columns = place::place(&layered, &shapes)?;
    Ok(route::route(diagram, &ranks, &layered, &shapes, &columns))
}
