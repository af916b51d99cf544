//! A profile as comma-separated values: one row for every run and node, as measured.

use super::Profile;

/// The first line.
pub const HEAD: &str =
    "run,node,pass,stage,segment,clock,seconds,valid,steps,groups,group_invocations,read_bytes,write_bytes";

/// All rows under [`HEAD`]. Times that are zero or negative are there, with `valid` false; where a run has no time of a node,
/// there is no row.
pub fn csv(profile: &Profile) -> String {
    let mut text = format!("{HEAD}\n");
    let runs = profile.nodes.iter().map(|node| node.sample_seconds.len()).max().unwrap_or(0);
    for run in 0..runs {
        for node in &profile.nodes {
            let Some(seconds) = node.sample_seconds.get(run).copied().flatten() else { continue };
            let clock = if node.host_clock { "host" } else { "device" };
            let (name, pass, stage) = (field(&node.node), field(&node.pass), field(&node.stage));
            text.push_str(&format!(
                "{run},{name},{pass},{stage},{},{clock},{seconds:e},{},{},{},{},{},{}\n",
                node.segment,
                seconds > 0.0,
                node.steps,
                node.groups,
                node.group_invocations,
                node.read_bytes,
                node.write_bytes
            ));
        }
    }
    text
}

/// A text as a field (RFC 4180).
fn field(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::field;

    #[test]
    fn fields_that_need_quotes_have_them() {
        assert_eq!(field("keep_scan/apply"), "keep_scan/apply");
        assert_eq!(field("a,\"b\""), "\"a,\"\"b\"\"\"");
    }
}
