//! Arenas, uploads and read-backs.

use std::ops::Deref;
use std::sync::{Arc, Mutex};

use wgpu::{BufferUsages, ErrorFilter, Features};

use super::super::backend::Region;
use super::super::error::RunError;
use super::super::program::Program;
use super::device::{Gpu, block_on};
use crate::threads;

/// Bytes that a thread uploads at a time.
const UPLOAD_PIECE_BYTES: usize = 256 << 10;

/// Threads that upload; more do not make it faster.
const UPLOAD_THREADS_MAX: usize = 4;

/// Device memory of a backend, kept across runs.
#[derive(Debug, Default)]
pub(super) struct Memory {
    arenas: Vec<Arena>,
    /// Staging buffers whose contents nobody looks at any more.
    staging: Arc<Mutex<Vec<wgpu::Buffer>>>,
}

#[derive(Debug)]
struct Arena {
    buffer: wgpu::Buffer,
    /// Whether the host can map it, to write straight into it.
    mappable: bool,
}

impl Memory {
    /// Makes every arena of the plan exist and be large enough. Whether any was made anew, so that bindings are stale.
    pub(super) fn prepare(&mut self, gpu: &Gpu, program: &Program) -> Result<bool, RunError> {
        let mut moved = false;
        for (index, planned) in program.plan.arenas.iter().enumerate() {
            let bytes = planned.size_bytes;
            let mappable =
                program.is_upload_arena(index) && gpu.features.contains(Features::MAPPABLE_PRIMARY_BUFFERS);
            if let Some(arena) = self.arenas.get(index)
                && arena.buffer.size() >= bytes
                && arena.mappable == mappable
            {
                continue;
            }
            let arena = Arena { buffer: make_arena(gpu, index, bytes, mappable)?, mappable };
            match self.arenas.get_mut(index) {
                Some(old) => *old = arena,
                None => self.arenas.push(arena),
            }
            moved = true;
        }
        Ok(moved)
    }

    pub(super) fn trim(&mut self) {
        self.arenas.clear();
        self.staging.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clear();
    }

    /// Bytes of all arenas.
    pub(super) fn arena_bytes(&self) -> u64 {
        self.arenas.iter().map(|arena| arena.buffer.size()).sum()
    }

    pub(super) fn arena(&self, index: usize) -> &wgpu::Buffer {
        &self.arenas[index].buffer
    }

    pub(super) fn binding(&self, region: Region) -> wgpu::BindingResource<'_> {
        wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: self.arena(region.arena),
            offset: region.offset_bytes,
            size: wgpu::BufferSize::new(region.size_bytes),
        })
    }

    /// Puts bytes at the start of a region, in front of everything that is submitted later.
    pub(super) fn write(&self, gpu: &Gpu, region: Region, bytes: &[u8]) -> Result<(), RunError> {
        if bytes.is_empty() {
            return Ok(());
        }
        let arena = &self.arenas[region.arena];
        if arena.mappable {
            return write_mapped(gpu, &arena.buffer, region, bytes);
        }
        let whole = bytes.len() & !3;
        gpu.queue.write_buffer(&arena.buffer, region.offset_bytes, &bytes[..whole]);
        if whole < bytes.len() {
            gpu.queue.write_buffer(
                &arena.buffer,
                region.offset_bytes + whole as u64,
                &last_word(&bytes[whole..]),
            );
        }
        Ok(())
    }

    pub(super) fn fill(&self, gpu: &Gpu, region: Region, word: u32) -> Result<(), RunError> {
        let bytes = word.to_le_bytes().repeat((region.size_bytes / 4) as usize);
        gpu.queue.write_buffer(self.arena(region.arena), region.offset_bytes, &bytes);
        gpu.queue.submit([]);
        Ok(())
    }

    /// A buffer to copy into and map, of at least so many bytes.
    pub(super) fn staging(&self, gpu: &Gpu, bytes: u64) -> Result<wgpu::Buffer, RunError> {
        let mut free = self.staging.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let fits = free.iter().enumerate().filter(|(_, buffer)| buffer.size() >= bytes);
        if let Some((index, _)) = fits.min_by_key(|(_, buffer)| buffer.size()) {
            return Ok(free.swap_remove(index));
        }
        // One that was too small is not needed beside the larger one.
        free.pop();
        drop(free);
        let usage = BufferUsages::MAP_READ | BufferUsages::COPY_DST;
        make_buffer(
            gpu,
            "weft.readback",
            bytes.next_power_of_two().min(gpu.limits.max_buffer_size).max(bytes),
            usage,
        )
    }

    /// Where read-backs return their buffers to.
    pub(super) fn returned(&self) -> Arc<Mutex<Vec<wgpu::Buffer>>> {
        Arc::clone(&self.staging)
    }
}

fn make_arena(gpu: &Gpu, index: usize, bytes: u64, mappable: bool) -> Result<wgpu::Buffer, RunError> {
    let mut usage = BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC;
    if mappable {
        usage |= BufferUsages::MAP_WRITE;
    }
    make_buffer(gpu, &format!("weft.arena_{index}"), bytes.next_multiple_of(16).max(16), usage)
}

/// A buffer, or why there is none.
pub(super) fn make_buffer(
    gpu: &Gpu,
    label: &str,
    bytes: u64,
    usage: BufferUsages,
) -> Result<wgpu::Buffer, RunError> {
    let scopes = [ErrorFilter::OutOfMemory, ErrorFilter::Validation].map(|f| gpu.device.push_error_scope(f));
    let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        size: bytes,
        usage,
        mapped_at_creation: false,
    });
    for scope in scopes.into_iter().rev() {
        match block_on(scope.pop()) {
            None => {}
            Some(wgpu::Error::OutOfMemory { .. }) => {
                return Err(RunError::OutOfMemory { bytes, what: label.to_owned() });
            }
            Some(error) => return Err(super::device::run_error(error, None)),
        }
    }
    Ok(buffer)
}

/// The last bytes of something as a word.
fn last_word(bytes: &[u8]) -> [u8; 4] {
    let mut word = [0; 4];
    word[..bytes.len()].copy_from_slice(bytes);
    word
}

/// Writes straight into device memory that the host can map, with several threads.
fn write_mapped(gpu: &Gpu, buffer: &wgpu::Buffer, region: Region, bytes: &[u8]) -> Result<(), RunError> {
    // Mapping offsets are multiples of 8, sizes of 4.
    let range = region.offset_bytes..region.offset_bytes + (bytes.len() as u64).next_multiple_of(4);
    map(gpu, buffer, wgpu::MapMode::Write, range.clone())?;
    let mut view = buffer
        .get_mapped_range_mut(range)
        .map_err(|error| RunError::Device { node: None, text: error.to_string() })?;
    let (whole, tail) = bytes.split_at(bytes.len() & !3);
    if !tail.is_empty() {
        view.slice(whole.len()..).copy_from_slice(&last_word(tail));
    }
    // Pieces of a fixed size are what may move to other threads.
    let (pieces, mut rest) = view.slice(..whole.len()).into_chunks::<UPLOAD_PIECE_BYTES>();
    let sources = whole.chunks_exact(UPLOAD_PIECE_BYTES);
    rest.copy_from_slice(sources.remainder());
    let mut work: Vec<_> = pieces.into_iter().zip(sources).collect();
    let threads = threads::available().min(UPLOAD_THREADS_MAX);
    let share = work.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        while work.len() > share {
            let part = work.split_off(work.len() - share);
            scope.spawn(move || copy_pieces(part));
        }
        copy_pieces(work);
    });
    drop(view);
    buffer.unmap();
    Ok(())
}

fn copy_pieces(pieces: Vec<(wgpu::WriteOnly<'_, [u8; UPLOAD_PIECE_BYTES]>, &[u8])>) {
    for (target, source) in pieces {
        wgpu::WriteOnly::<[u8]>::from(target).copy_from_slice(source);
    }
}

fn map(
    gpu: &Gpu,
    buffer: &wgpu::Buffer,
    mode: wgpu::MapMode,
    range: std::ops::Range<u64>,
) -> Result<(), RunError> {
    let (done, outcome) = std::sync::mpsc::channel();
    buffer.map_async(mode, range, move |result| {
        // The receiver is gone only if waiting failed, which is reported.
        let _ = done.send(result);
    });
    gpu.wait()?;
    // Another thread that waits for the same device may be the one that calls back, a moment later.
    match outcome.recv() {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(RunError::Device { node: None, text: error.to_string() }),
        Err(_) => Err(RunError::Device { node: None, text: "the device did not map a buffer".to_owned() }),
    }
}

/// A mapped read-back buffer, given back when nobody looks at it any more.
#[derive(Debug)]
pub(super) struct Mapped {
    view: Option<wgpu::BufferView>,
    buffer: wgpu::Buffer,
    home: Arc<Mutex<Vec<wgpu::Buffer>>>,
}

impl Mapped {
    /// Waits for everything submitted and maps the buffer's first bytes.
    pub(super) fn wait(
        gpu: &Gpu,
        buffer: wgpu::Buffer,
        bytes: u64,
        home: Arc<Mutex<Vec<wgpu::Buffer>>>,
    ) -> Result<Mapped, RunError> {
        let range = 0..bytes.next_multiple_of(4);
        map(gpu, &buffer, wgpu::MapMode::Read, range.clone())?;
        let view = buffer
            .get_mapped_range(range)
            .map_err(|error| RunError::Device { node: None, text: error.to_string() })?;
        Ok(Mapped { view: Some(view), buffer, home })
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.view.as_deref().unwrap_or(&[])
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        self.view = None;
        self.buffer.unmap();
        self.home.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(self.buffer.clone());
    }
}
