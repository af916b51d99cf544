//! `weft devices`: what there is to run on.

use weft::run::{AdapterReport, adapters};

use super::{Failure, text};

/// List the devices that graphs can run on, the default first
#[derive(clap::Args)]
pub struct Args {
    /// Write JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let adapters = adapters();
    if args.json {
        return text::print_json(&adapters);
    }
    if adapters.is_empty() {
        return Err(Failure::Device(
            "no GPU adapter with compute was found; install a Vulkan driver (Debian: mesa-vulkan-drivers for a software one)"
                .to_owned(),
        ));
    }
    text::print(&adapters.iter().map(describe).collect::<Vec<_>>().join("\n"))
}

fn describe(adapter: &AdapterReport) -> String {
    let has = |what: &str, yes: bool| format!("{}{what}", if yes { "" } else { "no " });
    let subgroups = match adapter.subgroups {
        Some((min, max)) if min == max => format!("subgroups of {min}"),
        Some((min, max)) => format!("subgroups of {min} to {max}"),
        None => "no subgroups".to_owned(),
    };
    let features = [
        has("timestamps", adapter.timestamps),
        format!("params {}", if adapter.immediates { "as immediates" } else { "in a uniform buffer" }),
        subgroups,
        has("memory that the host can map", adapter.mappable),
    ];
    format!(
        "{} {} ({}, {}, {})\n  buffers up to {} B, bindings up to {} B, {} storage buffers a pass\n  {}\n",
        adapter.index,
        adapter.name,
        adapter.kind,
        adapter.api,
        adapter.driver,
        text::count(adapter.max_buffer_bytes),
        text::count(adapter.max_binding_bytes),
        adapter.max_storage_buffers,
        features.join(", ")
    )
}
