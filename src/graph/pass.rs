//! A pass: what its file says, what its shader was found to be, and the checks that the two agree.
//!
//! The rules for a port's access, as naga sees the entry point and whatever it calls:
//!
//! | access | the WGSL variable |
//! |---|---|
//! | `read` | is declared `read`, is read |
//! | `write` | is declared `read_write`, is written and, unless the pass has steps, never read: its contents are undefined before |
//! | `update` | is declared `read_write`, is written |
//! | `accumulate` | holds atomics, and only atomic functions that commute with one another are used on it |
//!
//! A variable may take scalar elements by four: `array<vec4<u32>>` for a port of `u32`. Its binding is then a whole number
//! of such vectors.

use std::collections::BTreeSet;

use wgpu::naga::BuiltIn;

use super::decode::parse_layout;
use super::diagnostic::{Diagnostic, Diagnostics};
use super::document::{Access, FileId, Grid, Kernel, Layout, PassFile, Port, Scalar, Span, Spanned};
use super::expr::Expr;
use super::model::ElementType;
use super::shader::{ElementShape, Shader, StorageVariable};
use super::source::SourceMap;
use super::types::Types;

/// Storage buffers that a pass may bind, which is what adapters offer.
pub const STORAGE_BUFFERS_MAX: usize = 16;

/// Workgroups in one dimension of a dispatch; longer grids are folded.
pub const GRID_FOLD_GROUPS: u64 = 65_535;

/// The symbol that counts the dispatches of a pass with `steps`.
pub const STEP: &str = "step";

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

/// Where a port is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// `@group`
    pub group: u32,
    /// `@binding`
    pub binding: u32,
    /// Bytes of what the kernel takes at a time; a binding is a multiple of it.
    pub stride_bytes: u32,
}

/// A kernel that runs on the device.
#[derive(Debug)]
pub struct DeviceKernel {
    /// The shader.
    pub shader: Shader,
    /// Where each port is bound, in the order of the pass's ports.
    pub slots: Vec<Slot>,
    /// Invocations of a workgroup with the default overrides.
    pub group_size: u64,
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
    /// The kernel; none for a host pass, and none if shaders were not asked for.
    pub kernel: Option<DeviceKernel>,
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

/// Checks a pass file by itself and, if its shader is given, against that. Gives the pass if nothing is wrong.
pub fn check(
    file: PassFile,
    shader: Option<Shader>,
    types: &Types,
    sources: &SourceMap,
    diagnostics: &mut Diagnostics,
) -> Option<Pass> {
    let mut checker = Checker { file: &file, types, sources, diagnostics: Diagnostics::new() };
    let port_types = checker.file();
    let bound = shader.as_ref().map(|shader| checker.shader(shader, &port_types));
    let sound = checker.diagnostics.is_empty();
    diagnostics.append(checker.diagnostics);
    if !sound {
        return None;
    }
    let kernel =
        shader.zip(bound).map(|(shader, (slots, group_size))| DeviceKernel { shader, slots, group_size });
    let types = port_types.into_iter().collect::<Option<Vec<PortType>>>()?;
    Some(Pass { source: file.name.span.file, file, types, kernel })
}

struct Checker<'a> {
    file: &'a PassFile,
    types: &'a Types,
    sources: &'a SourceMap,
    diagnostics: Diagnostics,
}

impl Checker<'_> {
    fn error(&mut self, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        self.diagnostics.push_mut(Diagnostic::at(span, message))
    }

    /// Whether a declaration had errors, so that nothing more is to be said about it.
    fn damaged(&self, name: &str) -> bool {
        self.file.damaged.iter().any(|damaged| damaged == name)
    }

    // --------------------------------------------------------------------------------- the file alone

    fn file(&mut self) -> Vec<Option<PortType>> {
        self.names();
        let mut types = Vec::new();
        for (name, port) in &self.file.ports {
            let port_type = self.port_type(port);
            self.port(name, port, port_type.as_ref().map(PortType::layout));
            types.push(port_type);
        }
        self.grid();
        self.params();
        self.unused();
        self.whole();
        types
    }

    /// Names that clash.
    fn names(&mut self) {
        for (symbol, _) in &self.file.symbols {
            if symbol.value == STEP {
                self.error(symbol.span, "`step` is the number of the dispatch and cannot be declared");
            }
            if let Some((constant, _)) = self.file.overrides.iter().find(|(o, _)| o.value == symbol.value) {
                let message = format!("`{}` is both a symbol and an override", symbol.value);
                let (first, second) = ordered(symbol.span, constant.span);
                self.diagnostics.push(Diagnostic::at(second, message).also(first, "also defined here"));
            }
        }
        for (generic, _) in &self.file.generics {
            if let Some(declared) = self.types.get(&generic.value) {
                let message = format!("`{}` is both a generic and a declared type", generic.value);
                let diagnostic = Diagnostic::at(generic.span, message);
                self.diagnostics.push(diagnostic.also(declared.span, "declared here"));
            }
        }
    }

    fn port_type(&mut self, port: &Port) -> Option<PortType> {
        let name = &port.element.value;
        if let Some((_, layout)) = self.file.generics.iter().find(|(generic, _)| generic.value == *name) {
            return Some(PortType::Generic { name: name.clone(), layout: layout.value });
        }
        let layout = parse_layout(name).or_else(|| self.types.get(name).map(|declared| declared.layout));
        if let Some(layout) = layout {
            return Some(PortType::Element(ElementType { name: name.clone(), layout }));
        }
        let diagnostic = Diagnostic::at(port.element.span, format!("there is no type `{name}`"));
        let diagnostic = diagnostic.help("declare it under `types` or `generics`");
        let generics = self.file.generics.iter().map(|(generic, _)| generic.value.as_str());
        self.diagnostics.push(diagnostic.suggest(name, generics.chain(self.types.names())));
        None
    }

    fn port(&mut self, name: &Spanned<String>, port: &Port, layout: Option<Layout>) {
        self.expression(&port.len, false);
        if let Some(at) = &port.at {
            self.expression(at, false);
            if port.access.value != Access::Write {
                let message = format!("only a write port has `at`, and `{}` is not one", name.value);
                self.diagnostics.push(Diagnostic::at(at.span, message).also(port.access.span, "its access"));
            }
        }
        let one_word = layout.is_none_or(|l| l == Layout { scalar: Scalar::U32, lanes: 1 })
            && port.len.value.constant() == Some(1);
        if let Some(carried) = &port.carries {
            if !one_word || port.access.value != Access::Read {
                let message = format!("`{}` carries a number, so it is one u32 that is read", name.value);
                self.error(carried.span, message).help = Some("give it `len: 1` and `access: read`".into());
            }
            self.symbol(carried, "carried");
        }
        if port.codes.is_some() && (!one_word || port.access.value == Access::Read) {
            let message = format!("`{}` has codes, so it is one u32 that is written", name.value);
            self.error(name.span, message).help = Some("a status word has `len: 1` and is not `read`".into());
        }
        let atomic = layout.is_none_or(|layout| layout.lanes == 1 && layout.scalar != Scalar::F32);
        if port.access.value == Access::Accumulate && !atomic {
            let message =
                format!("`{}` is accumulated, but `{}` has no atomics", name.value, port.element.value);
            let diagnostic = Diagnostic::at(port.element.span, message);
            self.diagnostics.push(diagnostic.help("accumulate u32 or i32"));
        }
    }

    /// A name that must be one of the pass's symbols.
    fn symbol(&mut self, name: &Spanned<String>, role: &str) {
        if self.file.symbols.iter().any(|(symbol, _)| symbol.value == name.value) {
            return;
        }
        let message = format!("`{}` is {role}, but is no symbol of this pass", name.value);
        let symbols = self.file.symbols.iter().map(|(symbol, _)| symbol.value.as_str());
        let help = match name.value.as_str() {
            STEP => "a pass with `steps` has the symbol `step`",
            _ => "declare it under `symbols`",
        };
        let diagnostic = Diagnostic::at(name.span, message).help(help);
        self.diagnostics.push(diagnostic.suggest(&name.value, symbols));
    }

    /// Names in an expression must be symbols or overrides, or `step` where there are steps.
    fn expression(&mut self, expr: &Spanned<Expr>, with_step: bool) {
        let symbols = self.file.symbols.iter().map(|(symbol, _)| symbol.value.as_str());
        let overrides = self.file.overrides.iter().map(|(name, _)| name.value.as_str());
        let known: Vec<&str> = symbols.chain(overrides).chain(with_step.then_some(STEP)).collect();
        let unknown: BTreeSet<&str> = expr.value.symbols().filter(|name| !known.contains(name)).collect();
        for name in unknown {
            let span = self.sources.find_word(expr.span, name);
            let diagnostic = Diagnostic::at(span, format!("`{name}` is neither a symbol nor an override"));
            let diagnostic = match name {
                STEP if self.file.steps.is_some() => {
                    diagnostic.help("`step` can be used in `grid` and `params`")
                }
                STEP => diagnostic.help("a pass with `steps` has the symbol `step`"),
                _ if name.contains('/') => {
                    diagnostic.help("there is no division; `ceil_div` and `shr` round")
                }
                _ => diagnostic.help("declare it under `symbols` or `overrides`"),
            };
            self.diagnostics.push(diagnostic.suggest(name, known.iter().copied()));
        }
    }

    fn grid(&mut self) {
        if let Some(Grid::Threads(size) | Grid::Groups(size)) = &self.file.grid {
            self.expression(size, self.file.steps.is_some());
        }
        if let Some(steps) = &self.file.steps {
            self.expression(steps, false);
        }
        if let Some(traffic) = &self.file.traffic {
            self.expression(&traffic.read, false);
            self.expression(&traffic.write, false);
        }
        match (&self.file.kernel, &self.file.grid) {
            (Kernel::Shader { entry, .. }, None) if !self.damaged("grid") => {
                self.error(entry.span, "a pass with a shader needs `grid`");
            }
            (Kernel::Host(host), _) => self.host(host.span),
            _ => {}
        }
    }

    /// What only makes sense for a dispatch.
    fn host(&mut self, host: Span) {
        let grid = match &self.file.grid {
            Some(Grid::Threads(size) | Grid::Groups(size)) => Some(size.span),
            None => None,
        };
        let parts = [
            ("grid", grid),
            ("steps", self.file.steps.as_ref().map(|steps| steps.span)),
            ("params", self.file.params.first().map(|param| param.span)),
            ("overrides", self.file.overrides.first().map(|(name, _)| name.span)),
        ];
        for (key, span) in parts {
            if let Some(span) = span {
                let diagnostic = Diagnostic::at(span, format!("a host pass has no `{key}`"));
                self.diagnostics.push(diagnostic.also(host, "runs on the host"));
            }
        }
    }

    fn params(&mut self) {
        for (index, param) in self.file.params.iter().enumerate() {
            if let Some(first) = self.file.params[..index].iter().find(|first| first.value == param.value) {
                let diagnostic =
                    Diagnostic::at(param.span, format!("the param `{}` is there twice", param.value));
                self.diagnostics.push(diagnostic.also(first.span, "first given here"));
            }
            if param.value == STEP && self.file.steps.is_some() {
                continue;
            }
            self.symbol(param, "a param");
        }
    }

    /// Symbols and generics that nothing mentions.
    fn unused(&mut self) {
        let mut mentioned: BTreeSet<&str> = BTreeSet::new();
        let ports = || self.file.ports.iter().map(|(_, port)| port);
        for port in ports() {
            mentioned.extend(port.len.value.symbols());
            mentioned.extend(port.at.iter().flat_map(|at| at.value.symbols()));
            mentioned.extend(port.carries.iter().map(|carried| carried.value.as_str()));
        }
        if let Some(Grid::Threads(size) | Grid::Groups(size)) = &self.file.grid {
            mentioned.extend(size.value.symbols());
        }
        mentioned.extend(self.file.steps.iter().flat_map(|steps| steps.value.symbols()));
        let traffic = self.file.traffic.iter();
        mentioned.extend(traffic.flat_map(|t| t.read.value.symbols().chain(t.write.value.symbols())));
        mentioned.extend(self.file.params.iter().map(|param| param.value.as_str()));
        // A port that could not be decoded may have mentioned anything.
        if !self.file.damaged.is_empty() {
            return;
        }
        for (symbol, _) in &self.file.symbols {
            if !mentioned.contains(symbol.value.as_str()) && !matches!(self.file.kernel, Kernel::Host(_)) {
                self.error(symbol.span, format!("the symbol `{}` is not used", symbol.value));
            }
        }
        for (generic, _) in &self.file.generics {
            if !ports().any(|port| port.element.value == generic.value) {
                self.error(generic.span, format!("no port has the generic type `{}`", generic.value));
            }
        }
    }

    fn whole(&mut self) {
        let ports = &self.file.ports;
        if ports.len() > STORAGE_BUFFERS_MAX && matches!(self.file.kernel, Kernel::Shader { .. }) {
            let message =
                format!("a pass has at most {STORAGE_BUFFERS_MAX} ports, this one has {}", ports.len());
            self.error(ports[STORAGE_BUFFERS_MAX].0.span, message).help = Some("split it".into());
        }
        let undamaged = self.file.damaged.is_empty();
        if undamaged && ports.iter().all(|(_, port)| port.access.value == Access::Read) {
            self.error(self.file.name.span, "this pass yields nothing: all its ports are only read");
        }
    }

    // ----------------------------------------------------------------------- the file and its shader

    /// The slots of all ports, and invocations of a workgroup. Without a slot a port has an error.
    fn shader(&mut self, shader: &Shader, types: &[Option<PortType>]) -> (Vec<Slot>, u64) {
        let variables = shader.storage();
        let mut slots = Vec::new();
        for ((name, port), port_type) in self.file.ports.iter().zip(types) {
            match variables.iter().find(|variable| variable.name == name.value) {
                Some(variable) => {
                    self.variable(name, port, port_type.as_ref(), variable, shader);
                    slots.push(Slot {
                        group: variable.group,
                        binding: variable.binding,
                        stride_bytes: variable.stride_bytes,
                    });
                }
                None => self.no_variable(name, shader),
            }
        }
        self.not_ports(&variables, shader);
        let errors_before = self.diagnostics.len();
        self.overrides(shader);
        let sound = self.diagnostics.len() == errors_before;
        let group_size = if sound { self.group_size(shader) } else { 0 };
        self.immediates(shader);
        self.grid_index(shader);
        (slots, group_size)
    }

    /// The entry point in the pass file: the place of what has no place of its own in the WGSL.
    fn entry_span(&self) -> Span {
        match &self.file.kernel {
            Kernel::Shader { entry, .. } => entry.span,
            Kernel::Host(host) => host.span,
        }
    }

    fn both(
        &mut self,
        in_pass: Span,
        in_shader: Option<Span>,
        message: String,
        label: &str,
    ) -> &mut Diagnostic {
        let diagnostic = Diagnostic::at(in_pass, message);
        self.diagnostics.push_mut(match in_shader {
            Some(span) => diagnostic.also(span, label),
            None => diagnostic,
        })
    }

    fn no_variable(&mut self, name: &Spanned<String>, shader: &Shader) {
        let declared = shader.declared_storage.iter().map(String::as_str);
        let diagnostic = match declared.clone().any(|variable| variable == name.value) {
            true => {
                let message = format!("the port `{}` is not used by `{}`", name.value, shader.entry);
                Diagnostic::at(name.span, message).also(self.entry_span(), "the entry point")
            }
            false => {
                let message = format!("the shader has no storage variable `{}`", name.value);
                Diagnostic::at(name.span, message).suggest(&name.value, declared)
            }
        };
        self.diagnostics.push(diagnostic);
    }

    /// Resources of the shader that the pass file does not know.
    fn not_ports(&mut self, variables: &[StorageVariable], shader: &Shader) {
        if !self.file.damaged.is_empty() {
            return;
        }
        for variable in variables {
            if !self.file.ports.iter().any(|(name, _)| name.value == variable.name) {
                let message = format!("`{}` is not a port of this pass", variable.name);
                let names = self.file.ports.iter().map(|(name, _)| name.value.as_str());
                let diagnostic = Diagnostic::at(variable.span.unwrap_or(self.entry_span()), message);
                let diagnostic = diagnostic.help("list it under `ports`").suggest(&variable.name, names);
                self.diagnostics.push(diagnostic.also(self.file.name.span, "this pass"));
            }
        }
        for (name, span) in shader.foreign_resources() {
            let message = format!("`{name}` is neither a storage variable nor immediate");
            let diagnostic = Diagnostic::at(span.unwrap_or(self.entry_span()), message);
            self.diagnostics.push(diagnostic.help("take buffers as ports and numbers as params"));
        }
    }

    fn variable(
        &mut self,
        name: &Spanned<String>,
        port: &Port,
        port_type: Option<&PortType>,
        variable: &StorageVariable,
        shader: &Shader,
    ) {
        self.element(port, port_type, variable);
        let access = port.access.value;
        let name = &name.value;
        // A later step may read what an earlier one wrote.
        let reads_back =
            access == Access::Write && variable.writable && variable.reads && self.file.steps.is_none();
        let problem = match access {
            Access::Read if variable.writable => Some("the shader declares it read_write".to_string()),
            Access::Read => None,
            _ if !variable.writable => Some("the shader does not declare it read_write".to_string()),
            _ if !variable.writes => Some(format!("`{}` never writes it", shader.entry)),
            _ if reads_back => Some(format!("`{}` reads it", shader.entry)),
            _ => None,
        };
        if let Some(problem) = problem {
            let message = format!("`{name}` is {} port, but {problem}", access_noun(access));
            let diagnostic = self.both(port.access.span, variable.span, message, "the variable");
            if reads_back {
                diagnostic.help = Some(
                    "a write port's contents are undefined before; what is read must come in as `update` or \
                     `accumulate`"
                        .into(),
                );
            }
        }
        if access == Access::Accumulate {
            self.accumulated(name, port, variable, shader);
        }
    }

    fn element(&mut self, port: &Port, port_type: Option<&PortType>, variable: &StorageVariable) {
        let Some(layout) = port_type.map(PortType::layout) else { return };
        let fits = match variable.element {
            ElementShape::Vector { scalar, lanes, .. } => {
                scalar == layout.scalar && (lanes == layout.lanes || (layout.lanes == 1 && lanes == 4))
            }
            ElementShape::Other => false,
        };
        if !fits {
            let name = &port.element.value;
            let layout = layout_text(layout);
            let declared =
                if *name == layout { layout.clone() } else { format!("`{name}`, that is {layout}") };
            let message = format!(
                "elements of `{}` are {declared}, but {} in the shader",
                variable.name,
                element_text(&variable.element)
            );
            self.both(port.element.span, variable.span, message, "the variable").help = Some(format!(
                "declare it array<{layout}>; scalar elements may also be taken by four, as vec4"
            ));
        }
    }

    fn accumulated(&mut self, name: &str, port: &Port, variable: &StorageVariable, shader: &Shader) {
        if !matches!(variable.element, ElementShape::Vector { atomic: true, .. }) {
            let message = format!("`{name}` is accumulated, but its elements are not atomic");
            self.both(port.access.span, variable.span, message, "the variable").help =
                Some("declare it array<atomic<u32>>".into());
            return;
        }
        for (what, span) in shader.uncommutative(variable) {
            let message = format!("{what} on `{name}`, which is accumulated, so that its order matters");
            let diagnostic = Diagnostic::at(span.unwrap_or(port.access.span), message);
            let diagnostic = diagnostic.also(port.access.span, "accumulate");
            self.diagnostics.push(diagnostic.help(
                "use one of atomicAdd with atomicSub, atomicMin, atomicMax, atomicOr, atomicAnd, atomicXor, or make \
                 the access `update`",
            ));
        }
    }

    fn overrides(&mut self, shader: &Shader) {
        let used = shader.overrides();
        for constant in &used {
            let span = constant.span.unwrap_or(self.entry_span());
            let Some((name, value)) =
                self.file.overrides.iter().find(|(name, _)| name.value == constant.name)
            else {
                let message = format!("the override `{}` is not in the pass file", constant.name);
                let names = self.file.overrides.iter().map(|(name, _)| name.value.as_str());
                let diagnostic = Diagnostic::at(span, message).help("give it a default under `overrides`");
                let diagnostic = diagnostic.suggest(&constant.name, names);
                self.diagnostics.push(diagnostic.also(self.file.name.span, "this pass"));
                continue;
            };
            if !constant.plain {
                let message = format!("the override `{}` must be a u32 without @id", constant.name);
                self.diagnostics.push(Diagnostic::at(span, message).also(name.span, "its default"));
            }
            if let Some(default) = constant.default
                && default != value.value
            {
                let message = format!(
                    "the default of `{}` is {} here and {default} in the shader",
                    name.value, value.value
                );
                self.both(value.span, constant.span, message, "the override");
            }
        }
        for (name, _) in &self.file.overrides {
            if !shader.declared_overrides.contains(&name.value) {
                let message = format!("the shader has no override `{}`", name.value);
                let declared = shader.declared_overrides.iter().map(String::as_str);
                self.diagnostics.push(Diagnostic::at(name.span, message).suggest(&name.value, declared));
            }
        }
    }

    /// Invocations of a workgroup with the defaults, and that the shader is valid with them: array lengths may depend on them too.
    fn group_size(&mut self, shader: &Shader) -> u64 {
        let defaults = self.file.overrides.iter().map(|(name, value)| (name.value.as_str(), value.value));
        match shader.workgroup_invocations(defaults) {
            Ok(invocations) => invocations,
            Err(reason) => {
                let message = format!("with its default overrides the shader cannot be used: {reason}");
                self.error(self.entry_span(), message);
                0
            }
        }
    }

    fn immediates(&mut self, shader: &Shader) {
        let params: Vec<&str> = self.file.params.iter().map(|param| param.value.as_str()).collect();
        let Some(immediates) = shader.immediates() else {
            if let Some(first) = self.file.params.first() {
                let message = format!("`{}` takes no immediates, but there are params", shader.entry);
                let help =
                    format!("declare var<immediate> of a struct with the members {}", params.join(", "));
                self.error(first.span, message).help = Some(help);
            }
            return;
        };
        let in_pass = self.file.params.first().map_or(self.entry_span(), |first| first.span);
        let Some(members) = immediates.members else {
            let message = "immediates must be a struct whose members are the params".to_string();
            self.both(in_pass, immediates.span, message, "is not a struct");
            return;
        };
        let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
        if names != params {
            let message =
                format!("the params are {}, but the immediates are {}", listed(&params), listed(&names));
            self.both(in_pass, immediates.span, message, "the immediates").help =
                Some("they must have the same names in the same order".into());
        }
        let errors_before = self.diagnostics.len();
        for member in members.iter().filter(|member| !member.is_u32) {
            let message = format!("the immediate `{}` is not a u32", member.name);
            self.both(in_pass, immediates.span, message, "the immediates");
        }
        let words = members.len() as u32;
        if self.diagnostics.len() == errors_before && immediates.size_bytes != 4 * words {
            let message = format!(
                "the immediates have {} bytes, and {words} params one after the other have {}",
                immediates.size_bytes,
                4 * words
            );
            self.both(in_pass, immediates.span, message, "the immediates").help =
                Some("take @align and @size away".into());
        }
    }

    /// The executor folds grids, so an index must take the fold into account.
    fn grid_index(&mut self, shader: &Shader) {
        let help = "take it from linear_workgroup or linear_invocation of shared/grid.wgsl: a long grid is folded \
                    into two dimensions";
        if let Some(span) = shader.builtin(BuiltIn::GlobalInvocationId, "global_invocation_id") {
            let message = format!("`{}` uses global_invocation_id", shader.entry);
            let diagnostic = Diagnostic::at(span.unwrap_or(self.entry_span()), message).help(help);
            self.diagnostics.push(diagnostic.also(self.entry_span(), "the entry point"));
        }
        let short = match &self.file.grid {
            Some(Grid::Groups(size)) => size.value.constant().is_some_and(|size| size <= GRID_FOLD_GROUPS),
            Some(Grid::Threads(_)) => false,
            None => true,
        };
        let group = shader.builtin(BuiltIn::WorkGroupId, "workgroup_id");
        let groups = shader.builtin(BuiltIn::NumWorkGroups, "num_workgroups");
        if let (Some(span), None, false) = (group, groups, short) {
            let message = format!("`{}` uses workgroup_id without num_workgroups", shader.entry);
            let diagnostic = Diagnostic::at(span.unwrap_or(self.entry_span()), message).help(help);
            self.diagnostics.push(diagnostic.also(self.entry_span(), "the entry point"));
        }
    }
}

fn access_noun(access: Access) -> &'static str {
    match access {
        Access::Read => "a read",
        Access::Write => "a write",
        Access::Update => "an update",
        Access::Accumulate => "an accumulate",
    }
}

fn ordered(one: Span, two: Span) -> (Span, Span) {
    if one < two { (one, two) } else { (two, one) }
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() { "none".to_string() } else { names.join(", ") }
}

/// How a layout is written.
pub fn layout_text(layout: Layout) -> String {
    vector_text(layout.scalar, layout.lanes)
}

fn vector_text(scalar: Scalar, lanes: u8) -> String {
    let scalar = match scalar {
        Scalar::U32 => "u32",
        Scalar::I32 => "i32",
        Scalar::F32 => "f32",
    };
    if lanes == 1 { scalar.to_string() } else { format!("vec{lanes}<{scalar}>") }
}

fn element_text(element: &ElementShape) -> String {
    match element {
        ElementShape::Vector { scalar, lanes, atomic: false } => vector_text(*scalar, *lanes),
        ElementShape::Vector { scalar, lanes, atomic: true } => {
            format!("atomic<{}>", vector_text(*scalar, *lanes))
        }
        ElementShape::Other => "something that no port can hold".to_string(),
    }
}
