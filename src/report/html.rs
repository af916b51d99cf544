//! Reports as single HTML files that need nothing else: no network, no fonts, no other files.
//!
//! Everything is in the markup, so that a report can be read and printed without scripts; `report.js` adds choosing a node in all
//! views at once, sorting and zooming. All text that comes from graphs, inputs or devices is escaped. The numbers are embedded
//! once more as JSON, for programs.
//!
//! This file makes the frame of a document; [`profile`] and [`compare`] fill it.

mod compare;
mod profile;
mod text;

use serde::Serialize;

pub use compare::compare;
pub use profile::profile;

use super::svg::escape;

const CSS: &str = include_str!("html/report.css");
const JS: &str = include_str!("html/report.js");

/// A document under way.
struct Document {
    title: String,
    /// Parts of the page's body, in order.
    body: String,
    /// Data for programs, as JSON that can stand in a script element.
    data: String,
}

impl Document {
    fn new(title: &str, data: &impl Serialize) -> Document {
        Document { title: title.to_owned(), body: String::new(), data: script_json(data) }
    }

    /// A part of the page with a heading. `content` is markup.
    fn section(&mut self, id: &str, heading: &str, content: &str) {
        let heading = escape(heading);
        self.body.push_str(&format!(
            "<section id=\"{id}\" aria-labelledby=\"{id}-heading\">\n<h2 id=\"{id}-heading\">{heading}</h2>\n{content}</section>\n"
        ));
    }

    fn finish(self) -> String {
        let Document { title, body, data } = self;
        let title = escape(&title);
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src \
             'unsafe-inline'\"/>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
             <meta name=\"color-scheme\" content=\"light dark\"/>\n<title>{title}</title>\n<style>\n{CSS}</style>\n</head>\n<body>\n\
             {body}<script type=\"application/json\" id=\"data\">{data}</script>\n<script>\n{JS}</script>\n</body>\n</html>\n"
        )
    }
}

/// JSON that cannot end the script element in which it stands.
fn script_json(data: &impl Serialize) -> String {
    // Keys are ours and numbers that JSON lacks become null, so that nothing can fail.
    let text = serde_json::to_string(data).unwrap_or_else(|_| "null".to_owned());
    text.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}
