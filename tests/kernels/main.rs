//! Single kernels against the truth that the CPU engine's code gives, on the device and by reference alike.

mod device;
mod emit;
mod input;
mod order;
mod rank;
#[path = "../support/mod.rs"]
mod support;
