//! Makes cargo notice new and removed files in the folders that are embedded in the binary.

fn main() {
    for folder in ["passes", "graphs", "shaders"] {
        println!("cargo::rerun-if-changed={folder}");
    }
}
