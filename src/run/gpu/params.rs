//! Params of dispatches on a device that does not take them as immediates: blocks of one uniform buffer, a block a dispatch.
//!
//! Blocks collect on the host while a segment is recorded and go to the device in one write in front of it. All kernels
//! share the layout of the bind group; which block a dispatch sees is a dynamic offset. The buffer is kept across runs.

use wgpu::BufferUsages;

use super::super::error::RunError;
use super::device::Gpu;
use super::memory::make_buffer;

/// The bind group of params; ports are in group 0.
pub(super) const GROUP: u32 = 1;

/// The binding of params in their group.
pub(super) const BINDING: u32 = 0;

/// Bytes of a block that a kernel may see: 64 params. A multiple of 16, as some devices want bindings to be.
pub(super) const BLOCK_BYTES: u64 = 256;

/// Blocks of the first buffer. A segment with more dispatches makes a larger one.
const BLOCKS_MIN: u64 = 64;

/// Blocks of dispatches that are not yet submitted, and the buffer that they go to.
#[derive(Debug, Default)]
pub(super) struct Params {
    staged: Vec<u8>,
    home: Option<(wgpu::Buffer, wgpu::BindGroup)>,
}

/// The layout of the bind group.
pub(super) fn layout(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("weft.params"),
        entries: &[wgpu::BindGroupLayoutEntry {
            binding: BINDING,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Uniform,
                has_dynamic_offset: true,
                min_binding_size: wgpu::BufferSize::new(BLOCK_BYTES),
            },
            count: None,
        }],
    })
}

impl Params {
    /// Takes the params of one dispatch, at most [`BLOCK_BYTES`] of them. Gives the bind group and the offset to set for it.
    pub(super) fn put(
        &mut self,
        gpu: &Gpu,
        layout: &wgpu::BindGroupLayout,
        params: &[u8],
    ) -> Result<(&wgpu::BindGroup, u32), RunError> {
        let alignment = u64::from(gpu.limits.min_uniform_buffer_offset_alignment).max(4);
        let block_bytes = BLOCK_BYTES.next_multiple_of(alignment);
        let room = self.home.as_ref().map_or(0, |(buffer, _)| buffer.size());
        if self.staged.len() as u64 + block_bytes > room {
            // Dispatches recorded so far keep the buffer that they have.
            self.flush(gpu);
            let most = gpu.limits.max_buffer_size.min(u64::from(u32::MAX)) / block_bytes * block_bytes;
            let bytes = (2 * room).max(BLOCKS_MIN * block_bytes).min(most);
            self.home = Some(make_home(gpu, layout, bytes)?);
        }
        let offset = self.staged.len();
        self.staged.extend_from_slice(params);
        self.staged.resize(offset + block_bytes as usize, 0);
        let (_, group) = self.home.as_ref().expect("there is room");
        Ok((group, offset as u32))
    }

    /// Writes what was put, in front of what is submitted next.
    pub(super) fn flush(&mut self, gpu: &Gpu) {
        if let (Some((buffer, _)), false) = (&self.home, self.staged.is_empty()) {
            gpu.queue.write_buffer(buffer, 0, &self.staged);
        }
        self.staged.clear();
    }

    /// Forgets what was put for dispatches that will not be submitted.
    pub(super) fn discard(&mut self) {
        self.staged.clear();
    }

    /// Gives the buffer back.
    pub(super) fn trim(&mut self) {
        *self = Params::default();
    }
}

fn make_home(
    gpu: &Gpu,
    layout: &wgpu::BindGroupLayout,
    bytes: u64,
) -> Result<(wgpu::Buffer, wgpu::BindGroup), RunError> {
    let buffer = make_buffer(gpu, "weft.params", bytes, BufferUsages::UNIFORM | BufferUsages::COPY_DST)?;
    let group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("weft.params"),
        layout,
        entries: &[wgpu::BindGroupEntry {
            binding: BINDING,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &buffer,
                offset: 0,
                size: wgpu::BufferSize::new(BLOCK_BYTES),
            }),
        }],
    });
    Ok((buffer, group))
}
