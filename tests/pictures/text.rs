//! Mermaid flowcharts.

use proptest::prelude::*;

use weft::report::mermaid::mermaid;

use super::{build, random};

#[test]
fn mermaid_of_two_boxes() {
    let text = "\
input a\"b - - : : _[u32|× n]
device s/t p/<q> 0 : in<-a\"b c=1 : out[u32]
host end p 0 : in<~s/t.out : out[u32]
count k ≤_n 1 : _<-end.out :
";
    let expected = r##"---
title: "\"two\""
---
flowchart TB
  n0(["<b>a#34;b</b>"])
  subgraph s0 ["segment 0"]
    n2[["<b>end</b><br/>p"]]
    subgraph s1 ["s"]
      n1["<b>t</b><br/>p/#60;q#62;<br/>c = 1"]
    end
  end
  subgraph s2 ["segment 1: host waits for `k`"]
    n3{{"<b>k</b><br/>≤ n"}}
  end
  n0 -->|"× n"| n1
  n1 ==>|"out<br/>u32"| n2
  n2 -->|"out<br/>u32"| n3
"##;
    let expected = expected.replace("`k`", "#96;k#96;");
    let diagram = build::parse("\"two\"", text, &[&["host waits for", "`k`"]]);
    assert_eq!(mermaid(&diagram).expect("a consistent diagram"), expected);
}

/// Whether a line is one that Mermaid reads as intended: ours, with nothing in quotes that could end or change them.
fn is_plain(line: &str) -> bool {
    let mut parts = line.split('"');
    let outside = parts.clone().step_by(2).collect::<String>();
    let inside = parts.by_ref().skip(1).step_by(2).collect::<String>();
    let tags = inside.replace("<b>", "").replace("</b>", "").replace("<br/>", "");
    let entities = tags.split('#').skip(1).all(|rest| {
        rest.split_once(';').is_some_and(|(number, _)| number.parse::<u32>().is_ok_and(|number| number < 128))
    });
    let forbidden = |c: char| c.is_control() || "<>`*~|{}[]\\&".contains(c);
    let letters = |c: char| c.is_ascii_alphanumeric() || " -=.>o|([{/\\}])".contains(c);
    line.matches('"').count().is_multiple_of(2)
        && entities
        && !tags.contains(forbidden)
        && outside.chars().all(letters)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn any_name_stays_within_its_quotes(diagram in random::hostile()) {
        let text = mermaid(&diagram).unwrap();
        let mut lines = text.lines();
        prop_assert_eq!(lines.next(), Some("---"));
        let title = lines.next().and_then(|line| line.strip_prefix("title: ")).expect("a title");
        prop_assert!(serde_json::from_str::<String>(title).is_ok());
        prop_assert_eq!((lines.next(), lines.next()), (Some("---"), Some("flowchart TB")));
        for line in lines {
            prop_assert!(is_plain(line), "{}", line);
        }
        prop_assert_eq!(text.matches("subgraph ").count(), text.matches("  end\n").count());
    }
}
