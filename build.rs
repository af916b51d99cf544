//! Makes cargo notice new and removed files in the folders that are embedded in the binary, and hands over the version of
//! wgpu, which the crate itself does not tell.

fn main() {
    for folder in ["passes", "graphs", "shaders", "Cargo.lock"] {
        println!("cargo::rerun-if-changed={folder}");
    }
    let lock = std::fs::read_to_string("Cargo.lock").unwrap_or_default();
    println!("cargo::rustc-env=WEFT_WGPU_VERSION={}", locked_version(&lock, "wgpu").unwrap_or("unknown"));
}

/// The version of a package in a lock file.
fn locked_version<'l>(lock: &'l str, package: &str) -> Option<&'l str> {
    let (_, after) = lock.split_once(&format!("name = \"{package}\"\nversion = \""))?;
    after.split('"').next()
}
