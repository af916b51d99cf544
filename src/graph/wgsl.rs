//! A lexer that knows just enough WGSL to tell what a shader says from how it is laid out.
//!
//! It knows comments and blank space. It knows no grammar: texts that no compiler accepts pass through it too.

/// The text without comments, and with blank space only where leaving it out could join two tokens. Two shaders that
/// differ in comments and layout alone give the same text.
pub fn strip(source: &str) -> String {
    let mut stripped = String::with_capacity(source.len());
    let mut rest = source;
    let mut gap = false;
    while let Some(character) = rest.chars().next() {
        let skipped = match comment_bytes(rest) {
            0 if is_blank(character) => character.len_utf8(),
            comment => comment,
        };
        if skipped > 0 {
            gap = true;
            rest = &rest[skipped..];
            continue;
        }
        if gap && stripped.chars().next_back().is_some_and(|last| would_join(last, character)) {
            stripped.push(' ');
        }
        gap = false;
        stripped.push(character);
        rest = &rest[character.len_utf8()..];
    }
    stripped
}

/// The bytes of the comment that `text` begins with; 0 if it does not begin with one.
fn comment_bytes(text: &str) -> usize {
    if text.starts_with("//") {
        text.find(is_line_break).unwrap_or(text.len())
    } else if text.starts_with("/*") {
        block_comment_bytes(text)
    } else {
        0
    }
}

/// The bytes of a block comment, which may hold others. One that is never closed runs to the end.
fn block_comment_bytes(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0usize, 0);
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"/*" => depth += 1,
            b"*/" => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// A character that ends a line comment.
fn is_line_break(character: char) -> bool {
    matches!(character, '\n'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_blank(character: char) -> bool {
    is_line_break(character) || matches!(character, ' ' | '\t' | '\u{200e}' | '\u{200f}')
}

/// Whether two characters with a gap between them could become one token without it.
fn would_join(last: char, next: char) -> bool {
    const PAIRS: [[char; 2]; 21] = [
        ['-', '>'],
        ['-', '-'],
        ['+', '+'],
        ['&', '&'],
        ['|', '|'],
        ['<', '<'],
        ['>', '>'],
        ['<', '='],
        ['>', '='],
        ['=', '='],
        ['!', '='],
        ['+', '='],
        ['-', '='],
        ['*', '='],
        ['/', '='],
        ['%', '='],
        ['&', '='],
        ['|', '='],
        ['^', '='],
        ['/', '/'],
        ['/', '*'],
    ];
    (is_word(last) && is_word(next)) || PAIRS.contains(&[last, next])
}

fn is_word(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::strip;

    #[test]
    fn layout_and_comments_do_not_matter() {
        let plain = "fn f(a:u32)->u32{return a+1u;}";
        let laid_out = "// adds\u{2028}fn f ( a : u32 ) -> u32 {\r\n\treturn /* a /* nested */ b */ a + 1u ; // one\n}\n";
        assert_eq!(strip(laid_out), plain);
        assert_eq!(strip(plain), plain);
    }

    #[test]
    fn tokens_stay_apart() {
        assert_eq!(strip("a/**/b"), "a b");
        assert_eq!(strip("a - -b"), "a- -b");
        assert_eq!(strip("a / /**/ * b"), "a/ *b");
        assert_eq!(strip("array < vec2 < u32 > >"), "array<vec2<u32> >");
        assert_ne!(strip("a - -b"), strip("a--b"));
        assert_ne!(strip("let ab = 1;"), strip("let a b = 1;"));
    }

    #[test]
    fn comments_end_where_the_language_says() {
        assert_eq!(strip("a // x */ y\nb"), "a b");
        assert_eq!(strip("a /* // */ b"), "a b");
        assert_eq!(strip("a /* never closed"), "a");
        assert_eq!(strip("/*/ a */ b"), "b");
        assert_eq!(strip("a / b"), "a/b");
        assert_eq!(strip(""), "");
    }
}
