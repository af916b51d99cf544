//! Why a run stopped.

use crate::graph::expr::EvalError;
use crate::plan::PlanError;
use crate::reference::Fault;

/// A run that stopped, or did not start. No output of it is to be used.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// An expression has no number.
    #[error("{what}: {error}")]
    Number {
        /// Whose number it is.
        what: String,
        /// What is wrong with it.
        error: EvalError,
    },
    /// A number does not fit where it has to go.
    #[error("{what} is {number}, and may be at most {limit}")]
    TooLarge {
        /// Whose number.
        what: String,
        /// The number.
        number: u64,
        /// The limit.
        limit: u64,
    },
    /// No plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// An input was not given, was given twice, or is not one of the graph's.
    #[error("input `{name}` {what}")]
    Input {
        /// The input.
        name: String,
        /// What is wrong.
        what: String,
    },
    /// A pass needs more of a device than it has.
    #[error(
        "pass `{pass}` needs {needed} {limit}, and this device has {allowed}; choose another device or graph"
    )]
    Limit {
        /// The pass.
        pass: String,
        /// What there is not enough of.
        limit: &'static str,
        /// How much the pass needs.
        needed: u64,
        /// How much there is.
        allowed: u64,
    },
    /// A pass that the reference backend or a host node needs has no Rust function.
    #[error("node `{node}`: pass `{pass}` has no scalar reference, so only a device can run it")]
    NoReference {
        /// The node.
        node: String,
        /// Its pass.
        pass: String,
    },
    /// A reference or host function failed.
    #[error("node `{node}`: {fault}")]
    Reference {
        /// The node.
        node: String,
        /// What it says.
        fault: Fault,
    },
    /// A status word was set.
    #[error("node `{node}`: {unit} {position}: {text}")]
    Status {
        /// The check's name in the graph.
        check: String,
        /// The node, or nodes, that check.
        node: String,
        /// What the position counts.
        unit: String,
        /// Where it failed.
        position: u64,
        /// How.
        text: String,
    },
    /// A count came out larger than the graph says it can be.
    #[error(
        "count `{count}` of node `{node}` is {number}, over its maximum {max}: the graph reserves too little for this input, or a kernel is wrong"
    )]
    CountOverflow {
        /// The count.
        count: String,
        /// Who computed it.
        node: String,
        /// What came out.
        number: u64,
        /// What memory was planned for.
        max: u64,
    },
    /// There is no device to run on.
    #[error("{0}")]
    NoDevice(String),
    /// The device refused or failed.
    #[error("{}{text}", at(.node))]
    Device {
        /// The node, where that is known.
        node: Option<String>,
        /// What the driver says.
        text: String,
    },
    /// The device was lost.
    #[error("{}the device was lost: {text}", at(.node))]
    Lost {
        /// The node that was waited for, where that is known.
        node: Option<String>,
        /// What the driver says.
        text: String,
    },
    /// The device has no memory left.
    #[error("the device has no {bytes} bytes left for {what}; give smaller inputs or free device memory")]
    OutOfMemory {
        /// What was asked for.
        bytes: u64,
        /// What it was for.
        what: String,
    },
}

fn at(node: &Option<String>) -> String {
    node.as_ref().map(|node| format!("node `{node}`: ")).unwrap_or_default()
}

impl RunError {
    /// Whether it is the device that failed, rather than what it was given.
    pub fn is_device(&self) -> bool {
        matches!(
            self,
            RunError::NoDevice(_)
                | RunError::Device { .. }
                | RunError::Lost { .. }
                | RunError::OutOfMemory { .. }
        )
    }
}
