//! The tags that a prompt may have: variables, filters and tests, `for` and `if`.
//!
//! The engine bounds the steps of a template and the texts that it makes, but not the depth of values
//! nor the work to print them: a list of lists that share their parts is printed for ever, and a deep one
//! takes the stack. A prompt needs no lists of its own.

use minijinja::Environment;

/// Words and signs in a tag of a template. Expressions nest with their length, and a longer one would
/// need more stack than a thread has.
const WORDS_OF_A_TAG: usize = 500;

/// The statements of prompts.
const STATEMENTS: [&str; 8] =
    ["for", "endfor", "if", "elif", "else", "endif", "filter", "endfilter"];

/// Words behind which a bracket opens a list or a group, and not an index or a call.
const OPERATORS: [&str; 9] = ["in", "and", "or", "not", "is", "if", "else", "elif", "filter"];

/// Removes what makes lists, and what tells about the engine.
pub(super) fn restrict(environment: &mut Environment) {
    for function in ["debug", "dict", "namespace"] {
        environment.remove_global(function);
    }
    for filter in ["batch", "chain", "dictsort", "groupby", "items", "pprint", "slice", "zip"] {
        environment.remove_filter(filter);
    }
}

/// A tag that a prompt may not have.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refused {
    /// Its line, from 0.
    pub(super) line: usize,
    pub(super) expected: String,
    pub(super) found: String,
}

/// The first tag that a prompt may not have.
pub(super) fn check(text: &str) -> Result<(), Refused> {
    let mut at = 0;
    while let Some(open) = text[at..].find('{').map(|found| at + found) {
        let tag = match text.as_bytes().get(open + 1) {
            Some(b'#') => {
                at = text[open + 2..].find("#}").map_or(text.len(), |end| open + end + 4);
                continue;
            }
            Some(b'{') => Tag::new(text, open, "}}"),
            Some(b'%') => Tag::new(text, open, "%}"),
            _ => {
                at = open + 1;
                continue;
            }
        };
        at = tag.check()?;
    }
    Ok(())
}

/// A tag of a template while it is read.
struct Tag<'t> {
    text: &'t str,
    open: usize,
    close: &'static str,
    /// The position behind what was read.
    at: usize,
    /// Words and signs so far.
    count: usize,
    /// True behind something that an index or a call may follow.
    is_value: bool,
    /// True for each open bracket that is a group, in which a comma would make a list.
    groups: Vec<bool>,
}

impl<'t> Tag<'t> {
    fn new(text: &'t str, open: usize, close: &'static str) -> Self {
        Self { text, open, close, at: open + 2, count: 0, is_value: false, groups: Vec::new() }
    }

    /// The position behind the tag.
    fn check(mut self) -> Result<usize, Refused> {
        if self.rest().starts_with(['-', '+']) {
            self.at += 1;
        }
        loop {
            let rest = self.rest().trim_start();
            self.at = self.text.len() - rest.len();
            let unmarked = rest.strip_prefix(['-', '+']).unwrap_or(rest);
            let Some(c) = rest.chars().next() else { return Ok(self.at) };
            if unmarked.starts_with(self.close) {
                return Ok(self.text.len() - unmarked.len() + self.close.len());
            }
            self.count += 1;
            if self.count > WORDS_OF_A_TAG {
                let expected = format!("at most {WORDS_OF_A_TAG} words and signs in a tag");
                return Err(self.refused(expected, "a longer one"));
            }
            let length = match c {
                '"' | '\'' => length_of_text(rest, c),
                _ if is_of_word(c) => rest.find(|c| !is_of_word(c)).unwrap_or(rest.len()),
                _ => c.len_utf8(),
            };
            self.step(&rest[..length], &rest[length..])?;
            self.at += length;
        }
    }

    fn refused(&self, expected: impl Into<String>, found: impl Into<String>) -> Refused {
        let line = self.text[..self.open].matches('\n').count();
        Refused { line, expected: expected.into(), found: found.into() }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Takes a word, a text or a sign, before the rest of the text.
    fn step(&mut self, token: &str, rest: &str) -> Result<(), Refused> {
        if self.close == "%}" && self.count == 1 && !STATEMENTS.contains(&token) {
            return Err(self.refused("a tag with `for` or `if`", format!("`{token}`")));
        }
        let makes_list = match token {
            "(" => {
                self.groups.push(!self.is_value);
                false
            }
            "[" => {
                self.groups.push(false);
                !self.is_value
            }
            ")" | "]" => {
                self.groups.pop();
                false
            }
            "," => self.groups.last() == Some(&true),
            // A list cannot be added to a number.
            "+" => !rest.trim_start().starts_with(|c: char| c.is_ascii_digit()),
            "{" | "*" => true,
            _ => false,
        };
        if makes_list {
            let expected = "variables, filters and texts in a tag, without lists, tables and `*`, and `+` \
                            only before a number";
            return Err(self.refused(expected, format!("`{token}`")));
        }
        let is_name = token.starts_with(is_of_word) && !OPERATORS.contains(&token);
        self.is_value = is_name || token.starts_with(['"', '\'', ')', ']']);
        Ok(())
    }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of a text in quotation marks, with both of them.
fn length_of_text(rest: &str, mark: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        if is_escaped {
            is_escaped = false;
        } else if c == '\\' {
            is_escaped = true;
        } else if c == mark {
            return at + c.len_utf8();
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_may_not_make_lists() {
        for text in [
            "a { b } {",
            "{{ utterance }}",
            "{{- utterance -}} {%- if a -%} {%+ endif +%}",
            "{% for a, b in utterances %}{{ loop.index }}{% else %}{% endfor %}",
            "{{ utterances[-1].text ~ \"[}} + * {%\" ~ '\\'{{' }}",
            "{{ range(1, 3) | join(', ') }} {{ utterances[-3:] | map(attribute='text') }}",
            "{% if (a or b) and not (c - 1 > 2) %}{% endif %}",
            "{{ loop.index + 1 }} {{ loop.index +20 + 3 -}}",
            "{# {% set a = [1] %} #}",
            "{% filter upper %}a{% endfilter %}",
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
        for (text, found) in [
            ("{% set a = 1 %}", "`set`"),
            ("{%- with a = 1 %}", "`with`"),
            ("{% raw %}{{{% endraw %}", "`raw`"),
            ("{{ [1] }}", "`[`"),
            ("{% for a in [b, b] %}", "`[`"),
            ("{% for a in (b, b) %}", "`,`"),
            ("{{ {} }}", "`{`"),
            ("{{ a + a }}", "`+`"),
            ("{{ 1 + a }}", "`+`"),
            ("{{ a + -1 }}", "`+`"),
            ("{{ a +", "`+`"),
            ("{{ \"a\" * 9 }}", "`*`"),
            ("{{ f((a, a)) }}", "`,`"),
            ("{# #}{{ a[[1]] }}", "`[`"),
            ("{{ a if b else [] }}", "`[`"),
        ] {
            let refused = check(&format!("a\n{text}")).unwrap_err();
            assert_eq!((refused.line, &*refused.found), (1, found), "{text}");
        }
        let long = format!("{{{{ \"}}}}\"{} }}}}", " ~ 1".repeat(100_000));
        assert_eq!(check(&long).unwrap_err().found, "a longer one");
        let many = format!("{{# {{{{ #}}{{{{ \"}}}}\"{} }}}}", " ~ 1".repeat(100_000));
        assert_eq!(check(&many).unwrap_err().found, "a longer one");
        // Much in braces, and no tag.
        for text in ["{ ", "{", "{{ \"", "{# "] {
            let _ = check(&text.repeat(200_000));
        }
    }
}
