//! Finding an adapter, opening it, and what it says when it fails.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use wgpu::{DeviceType, Features};

use super::super::error::RunError;
use super::params;
use crate::plan;

/// Features that are used where an adapter has them.
const WANTED: Features = Features::TIMESTAMP_QUERY
    .union(Features::IMMEDIATES)
    .union(Features::SUBGROUP)
    .union(Features::MAPPABLE_PRIMARY_BUFFERS);

/// An open device.
#[derive(Debug)]
pub struct Gpu {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) limits: wgpu::Limits,
    pub(super) features: Features,
    /// The bind group of params, where they do not go as immediates.
    pub(super) params_layout: Option<wgpu::BindGroupLayout>,
    info: wgpu::AdapterInfo,
    report: AdapterReport,
    lost: Arc<Mutex<Option<String>>>,
    /// Seconds that finding and opening it took.
    pub open_seconds: f64,
}

/// Which device to open, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuOptions {
    /// Its position in [`adapters`]; the first if none.
    pub device: Option<usize>,
    /// Whether params go as immediates where the adapter has them. Otherwise, and where it has none, they go in a uniform
    /// buffer, which every adapter has; results are the same.
    pub immediates: bool,
}

impl Default for GpuOptions {
    /// The first device, with immediates if it has them.
    fn default() -> GpuOptions {
        GpuOptions { device: None, immediates: true }
    }
}

/// An adapter, for a list of them.
#[derive(Clone, Debug, serde::Serialize)]
pub struct AdapterReport {
    /// Position in the list, which selects it.
    pub index: usize,
    /// What it calls itself.
    pub name: String,
    /// `discrete`, `integrated`, `virtual`, `cpu` or `other`.
    pub kind: &'static str,
    /// The API: `vulkan`, `metal`, `dx12`, `gl`.
    pub api: String,
    /// Driver and its version.
    pub driver: String,
    /// Largest storage binding, in bytes.
    pub max_binding_bytes: u64,
    /// Largest buffer, in bytes.
    pub max_buffer_bytes: u64,
    /// Storage buffers of one pass.
    pub max_storage_buffers: u32,
    /// Whether it has timestamps.
    pub timestamps: bool,
    /// Whether params go as immediates; they go in a uniform buffer otherwise.
    pub immediates: bool,
    /// Whether it has subgroup operations, and the sizes of its subgroups.
    pub subgroups: Option<(u32, u32)>,
    /// Whether the host can write straight into its memory.
    pub mappable: bool,
}

fn instance() -> wgpu::Instance {
    wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env())
}

fn compute_adapters(instance: &wgpu::Instance) -> Vec<wgpu::Adapter> {
    let mut adapters = block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    adapters.retain(|adapter| {
        adapter.get_downlevel_capabilities().flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS)
    });
    // The likely fastest first; the order the driver gives them in among equals.
    adapters.sort_by_key(|adapter| {
        let info = adapter.get_info();
        (speed_class(info.device_type), info.backend == wgpu::Backend::Gl)
    });
    adapters
}

fn speed_class(kind: DeviceType) -> u8 {
    match kind {
        DeviceType::DiscreteGpu => 0,
        DeviceType::IntegratedGpu => 1,
        DeviceType::VirtualGpu => 2,
        DeviceType::Other => 3,
        DeviceType::Cpu => 4,
    }
}

fn kind_name(kind: DeviceType) -> &'static str {
    match kind {
        DeviceType::DiscreteGpu => "discrete",
        DeviceType::IntegratedGpu => "integrated",
        DeviceType::VirtualGpu => "virtual",
        DeviceType::Other => "other",
        DeviceType::Cpu => "cpu",
    }
}

/// All adapters with compute, the one that is used by default first.
pub fn adapters() -> Vec<AdapterReport> {
    let adapters = compute_adapters(&instance());
    adapters.iter().enumerate().map(|(index, adapter)| AdapterReport::of(index, adapter)).collect()
}

impl AdapterReport {
    fn of(index: usize, adapter: &wgpu::Adapter) -> AdapterReport {
        let (info, limits, features) = (adapter.get_info(), adapter.limits(), adapter.features());
        AdapterReport {
            index,
            name: info.name.clone(),
            kind: kind_name(info.device_type),
            api: info.backend.to_str().to_owned(),
            driver: format!("{} {}", info.driver, info.driver_info).trim().to_owned(),
            max_binding_bytes: limits.max_storage_buffer_binding_size,
            max_buffer_bytes: limits.max_buffer_size,
            max_storage_buffers: limits.max_storage_buffers_per_shader_stage,
            timestamps: features.contains(Features::TIMESTAMP_QUERY),
            immediates: features.contains(Features::IMMEDIATES),
            subgroups: features
                .contains(Features::SUBGROUP)
                .then_some((info.subgroup_min_size, info.subgroup_max_size)),
            mappable: features.contains(Features::MAPPABLE_PRIMARY_BUFFERS),
        }
    }
}

impl Gpu {
    /// Opens an adapter: the one at this position of [`adapters`], or the first.
    ///
    /// # Errors
    ///
    /// [`RunError::NoDevice`] if there is none, or it does not open.
    pub fn open(index: Option<usize>) -> Result<Gpu, RunError> {
        Gpu::open_with(GpuOptions { device: index, ..GpuOptions::default() })
    }

    /// Opens an adapter with other than the default options.
    ///
    /// # Errors
    ///
    /// [`RunError::NoDevice`] if there is none, or it does not open.
    pub fn open_with(options: GpuOptions) -> Result<Gpu, RunError> {
        let begin = Instant::now();
        let adapters = compute_adapters(&instance());
        if adapters.is_empty() {
            return Err(RunError::NoDevice(
                "no GPU adapter with compute was found; install a Vulkan driver (Debian: mesa-vulkan-drivers for a software one)"
                    .to_owned(),
            ));
        }
        let index = options.device.unwrap_or(0);
        let Some(adapter) = adapters.get(index) else {
            let count = adapters.len();
            return Err(RunError::NoDevice(format!(
                "there is no device {index}; `weft devices` lists the {count} there are, from 0"
            )));
        };
        let mut features = adapter.features() & WANTED;
        let mut limits = adapter.limits();
        if !options.immediates {
            features.remove(Features::IMMEDIATES);
        }
        let immediates = features.contains(Features::IMMEDIATES);
        if !immediates {
            limits.max_immediate_size = 0;
        }
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("weft"),
            required_features: features,
            required_limits: limits.clone(),
            memory_hints: wgpu::MemoryHints::Performance,
            ..Default::default()
        };
        let (device, queue) = block_on(adapter.request_device(&descriptor)).map_err(|error| {
            RunError::NoDevice(format!("the device {} does not open: {error}", adapter.get_info().name))
        })?;
        let lost = Arc::new(Mutex::new(None));
        let note = Arc::clone(&lost);
        device.set_device_lost_callback(move |reason, text| {
            let text = format!("{reason:?}: {text}");
            note.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).get_or_insert(text);
        });
        let params_layout = (!immediates).then(|| params::layout(&device));
        let report = AdapterReport { immediates, ..AdapterReport::of(index, adapter) };
        let (info, open_seconds) = (adapter.get_info(), begin.elapsed().as_secs_f64());
        Ok(Gpu { device, queue, limits, features, params_layout, info, report, lost, open_seconds })
    }

    /// What the adapter calls itself, its API and driver.
    pub fn name(&self) -> String {
        let wgpu::AdapterInfo { name, backend, driver, driver_info, .. } = &self.info;
        format!("{name} ({}, {})", backend.to_str(), format!("{driver} {driver_info}").trim())
    }

    /// The adapter, with what it offers.
    pub fn report(&self) -> &AdapterReport {
        &self.report
    }

    /// Whether it is a CPU that plays a GPU.
    pub fn is_cpu(&self) -> bool {
        self.info.device_type == DeviceType::Cpu
    }

    /// What memory plans for this device may do and have to keep.
    pub fn plan_options(&self) -> plan::Options {
        plan::Options {
            limits: plan::Limits {
                offset_alignment_bytes: u64::from(self.limits.min_storage_buffer_offset_alignment).max(16),
                max_binding_bytes: self.limits.max_storage_buffer_binding_size,
                max_buffer_bytes: self.limits.max_buffer_size,
            },
            may_widen: true,
            dedicated_inputs: true,
            ..plan::Options::default()
        }
    }

    /// Whether nodes can be timed by the device's clock.
    pub fn has_timestamps(&self) -> bool {
        self.features.contains(Features::TIMESTAMP_QUERY)
    }

    /// Whether it has subgroup operations.
    pub fn has_subgroups(&self) -> bool {
        self.features.contains(Features::SUBGROUP)
    }

    /// Waits until everything submitted is done.
    pub(super) fn wait(&self) -> Result<(), RunError> {
        let polled = self.device.poll(wgpu::PollType::wait_indefinitely());
        self.check_lost()?;
        polled.map(|_| ()).map_err(|error| RunError::Device { node: None, text: error.to_string() })
    }

    /// An error if the device is lost: some calls on a lost device just do nothing.
    pub(super) fn check_lost(&self) -> Result<(), RunError> {
        let lost = self.lost.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        match &*lost {
            Some(text) => Err(RunError::Lost { node: None, text: text.clone() }),
            None => Ok(()),
        }
    }
}

/// An error of wgpu as one of ours.
pub(super) fn run_error(error: wgpu::Error, node: Option<String>) -> RunError {
    match error {
        wgpu::Error::OutOfMemory { .. } => {
            RunError::Device { node, text: "the device is out of memory; give smaller inputs".to_owned() }
        }
        wgpu::Error::Validation { description, .. } | wgpu::Error::Internal { description, .. } => {
            RunError::Device { node, text: one_line(&description) }
        }
    }
}

/// Wgpu's messages come with their causes on lines of their own.
fn one_line(text: &str) -> String {
    text.split('\n').map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(": ")
}

/// Drives a future of wgpu's, which on native backends are ready or need no more than another poll.
pub(super) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::yield_now(),
        }
    }
}
