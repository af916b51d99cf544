//! Pipelines: made in parallel, kept by what they are made of.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex};

use wgpu::{ErrorFilter, naga};

use crate::graph::model::{Node, NodeId};
use crate::graph::pass::{DeviceKernel, Slot};
use crate::threads;

use super::super::error::RunError;
use super::super::program::Program;
use super::device::{Gpu, block_on, run_error};
use super::params;

/// A pipeline with what is needed to bind it.
#[derive(Debug)]
pub(super) struct Kernel {
    pub(super) pipeline: wgpu::ComputePipeline,
    pub(super) layout: wgpu::BindGroupLayout,
    /// Where each port is bound, in the order of the pass's ports.
    pub(super) slots: Vec<Slot>,
}

/// All pipelines made so far.
#[derive(Debug, Default)]
pub(super) struct Kernels {
    made: HashMap<Key, Arc<Kernel>>,
}

/// What decides a pipeline.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    pass: String,
    source: u64,
    overrides: Vec<(String, u32)>,
    /// Whether it binds read-write what it only reads, because the plan lets that share an arena with what it writes.
    widened: bool,
}

impl Key {
    fn of(node: &Node, kernel: &DeviceKernel, widened: bool) -> Key {
        let mut hasher = DefaultHasher::new();
        kernel.shader.source.text().hash(&mut hasher);
        kernel.shader.entry.hash(&mut hasher);
        let overrides = node.overrides.clone();
        Key { pass: node.pass.name().to_owned(), source: hasher.finish(), overrides, widened }
    }
}

impl Kernels {
    /// The kernels of a program's nodes, made where they are missing; none for host nodes.
    pub(super) fn of_program(
        &mut self,
        gpu: &Gpu,
        program: &Program,
    ) -> Result<Vec<Option<Arc<Kernel>>>, RunError> {
        let key_of = |(index, node): (u32, &Node)| {
            let widened = program.plan.widened.contains(&NodeId(index));
            node.pass.kernel.as_ref().map(|kernel| Key::of(node, kernel, widened))
        };
        let keys: Vec<Option<Key>> = (0..).zip(&program.graph.nodes).map(key_of).collect();
        let mut missing: Vec<(&Node, &DeviceKernel, &Key)> = Vec::new();
        for (node, key) in program.graph.nodes.iter().zip(&keys) {
            let (Some(kernel), Some(key)) = (&node.pass.kernel, key) else { continue };
            if !self.made.contains_key(key) && missing.iter().all(|(_, _, known)| *known != key) {
                check_limits(gpu, node.group_size, node, kernel)?;
                missing.push((node, kernel, key));
            }
        }
        for (key, kernel) in make_all(gpu, &missing)? {
            self.made.insert(key, Arc::new(kernel));
        }
        let kernel_of = |key: &Option<Key>| key.as_ref().map(|key| Arc::clone(&self.made[key]));
        Ok(keys.iter().map(kernel_of).collect())
    }
}

/// Refuses a pass that needs more than the device has, before anything is submitted.
fn check_limits(gpu: &Gpu, invocations: u64, node: &Node, kernel: &DeviceKernel) -> Result<(), RunError> {
    let pass = node.pass.name();
    let limit = |limit: &'static str, needed: u64, allowed: u64| {
        if needed <= allowed {
            return Ok(());
        }
        Err(RunError::Limit { pass: pass.to_owned(), limit, needed, allowed })
    };
    let limits = &gpu.limits;
    limit(
        "storage buffers",
        kernel.slots.len() as u64,
        u64::from(limits.max_storage_buffers_per_shader_stage),
    )?;
    let most = match gpu.params_layout {
        None => u64::from(limits.max_immediate_size),
        Some(_) => params::BLOCK_BYTES,
    };
    limit("bytes of params", u64::from(params_bytes(node)), most)?;
    limit(
        "invocations in a workgroup",
        invocations,
        u64::from(limits.max_compute_invocations_per_workgroup),
    )?;
    limit(
        "of the feature \"subgroups\"",
        u64::from(kernel.shader.needs_subgroups),
        u64::from(gpu.has_subgroups()),
    )
}

/// Bytes of a node's params: a word each.
fn params_bytes(node: &Node) -> u32 {
    4 * node.pass.file.params.len() as u32
}

/// Makes pipelines on several threads, since most of the time goes into the driver's compiler.
fn make_all(gpu: &Gpu, missing: &[(&Node, &DeviceKernel, &Key)]) -> Result<Vec<(Key, Kernel)>, RunError> {
    let threads = threads::available().min(missing.len());
    let next = Mutex::new(missing.iter());
    let take = || next.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).next().copied();
    let work = || {
        let mut made = Vec::new();
        while let Some((node, kernel, key)) = take() {
            made.push((key.clone(), make(gpu, node, kernel, key.widened)?));
        }
        Ok(made)
    };
    if threads <= 1 {
        return work();
    }
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let mut made = Vec::new();
        for worker in workers {
            made.extend(worker.join().expect("making a pipeline does not panic")?);
        }
        Ok(made)
    })
}

fn make(gpu: &Gpu, node: &Node, kernel: &DeviceKernel, widened: bool) -> Result<Kernel, RunError> {
    let pass = node.pass.name();
    let mut source = kernel.shader.module.clone();
    if widened {
        for (_, variable) in source.global_variables.iter_mut() {
            if let naga::AddressSpace::Storage { access } = &mut variable.space {
                *access |= naga::StorageAccess::STORE;
            }
        }
    }
    if gpu.params_layout.is_some() {
        take_params_from_a_uniform_buffer(&mut source);
    }
    let scope = gpu.device.push_error_scope(ErrorFilter::Validation);
    let (layout, pipeline_layout) = layouts(gpu, node, &source);
    let descriptor = wgpu::ShaderModuleDescriptor {
        label: Some(pass),
        source: wgpu::ShaderSource::Naga(Cow::Owned(source)),
    };
    let checks = wgpu::ShaderRuntimeChecks {
        force_loop_bounding: !kernel.shader.is_shipped,
        ..wgpu::ShaderRuntimeChecks::checked()
    };
    // SAFETY: all checks are made but one, for kernels of ours: that loops end. Theirs do, whatever is in their buffers, params and
    // overrides, since each turn moves a counter on, which its bound keeps from wrapping around, halves a range, goes up or down a
    // tree or takes a bit of a word or key. Counting turns costs up to a fifth of a scan's time.
    let module = unsafe { gpu.device.create_shader_module_trusted(descriptor, checks) };
    // An override that the entry point does not reach is not in the module any more.
    let in_module = |name: &str| kernel.shader.overrides().iter().any(|known| known.name == name);
    let constants: Vec<(&str, f64)> = node
        .overrides
        .iter()
        .filter(|(name, _)| in_module(name))
        .map(|(name, value)| (name.as_str(), f64::from(*value)))
        .collect();
    let pipeline = gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(pass),
        layout: Some(&pipeline_layout),
        module: &module,
        entry_point: Some(&kernel.shader.entry),
        compilation_options: wgpu::PipelineCompilationOptions {
            constants: &constants,
            // As WGSL promises, and as kernels rely on.
            zero_initialize_workgroup_memory: true,
        },
        cache: None,
    });
    if let Some(error) = block_on(scope.pop()) {
        return Err(run_error(error, Some(node.name.clone())));
    }
    Ok(Kernel { pipeline, layout, slots: kernel.slots.clone() })
}

/// Makes the immediates of a module a uniform variable. Their members are words, which lie the same in both.
fn take_params_from_a_uniform_buffer(module: &mut naga::Module) {
    for (_, variable) in module.global_variables.iter_mut() {
        if variable.space == naga::AddressSpace::Immediate {
            variable.space = naga::AddressSpace::Uniform;
            variable.binding = Some(naga::ResourceBinding { group: params::GROUP, binding: params::BINDING });
        }
    }
}

/// The layout of the bind group of ports, and of the pipeline. Not derived by wgpu, since params need a dynamic offset.
fn layouts(gpu: &Gpu, node: &Node, module: &naga::Module) -> (wgpu::BindGroupLayout, wgpu::PipelineLayout) {
    let storage = module.global_variables.iter().filter_map(|(_, variable)| {
        let (naga::AddressSpace::Storage { access }, Some(at)) = (variable.space, &variable.binding) else {
            return None;
        };
        Some(wgpu::BindGroupLayoutEntry {
            binding: at.binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Storage {
                    read_only: !access.contains(naga::StorageAccess::STORE),
                },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        })
    });
    let label = Some(node.pass.name());
    let ports = gpu.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label,
        entries: &storage.collect::<Vec<_>>(),
    });
    let params_bytes = params_bytes(node);
    let mut groups = vec![Some(&ports)];
    groups.extend(gpu.params_layout.as_ref().filter(|_| params_bytes > 0).map(Some));
    let pipeline = gpu.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label,
        bind_group_layouts: &groups,
        immediate_size: if gpu.params_layout.is_none() { params_bytes } else { 0 },
    });
    (ports, pipeline)
}
