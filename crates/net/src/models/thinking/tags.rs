//! Tags around what a model thinks. Each family has others, which their names have in common.

/// Names of tags, or parts of them: `<think>`, `<seed:think>`, `<|START_THINKING|>`, `<longcat_think>`.
const PARTS: [&str; 6] = ["think", "thinking", "thought", "thoughts", "reasoning", "antthinking"];

/// Other names of tags, whole ones.
const NAMES: [&str; 8] = [
    "analysis",
    "cot",
    "inner_monologue",
    "internal_monologue",
    "rationale",
    "reason",
    "reflection",
    "scratchpad",
];

/// Names of blocks that are no part of an answer if it begins with them.
const BLOCKS: [&str; 9] = [
    "brainstorm",
    "brainstorming",
    "critique",
    "deliberation",
    "internal",
    "monologue",
    "plan",
    "planning",
    "step",
];

/// Brackets around a name. Some servers escape theirs.
const BRACKETS: [[&str; 2]; 5] =
    [["<", ">"], ["[", "]"], ["◁", "▷"], ["&lt;", "&gt;"], ["\\u003c", "\\u003e"]];

/// The characters at which a tag may begin.
pub(super) const OPENINGS: [char; 5] = ['<', '[', '◁', '&', '\\'];

const BARS: [char; 2] = ['|', '｜'];

/// A tag at the beginning of a text.
pub(super) struct ThoughtTag {
    /// True if it ends what the model thinks.
    pub(super) is_end: bool,
    /// The position behind it.
    pub(super) end: usize,
}

/// The tag with which a text in lower case begins: `<name>`, also with attributes, `</name>`, `<|name|>`,
/// `<|/name|>`, `<|name_end|>`, `[name]`, `[/name]`.
pub(super) fn tag_at(text: &str) -> Option<ThoughtTag> {
    let (inner, end) = BRACKETS.iter().find_map(|[open, close]| {
        let rest = text.strip_prefix(open)?;
        let both = [open, close].map(|bracket| bracket.chars().next().unwrap_or_default());
        let at = rest.find(both)?;
        rest[at..].starts_with(close).then(|| (&rest[..at], open.len() + at + close.len()))
    })?;
    let bare = inner.trim_matches(BARS);
    let has_bars = bare.len() < inner.len();
    let slashless = bare.trim().trim_matches('/');
    let has_slash = slashless.len() < bare.trim().len();
    let (name, attributes) =
        slashless.trim().split_once(char::is_whitespace).unwrap_or((slashless.trim(), ""));
    if !attributes.is_empty() && (has_bars || has_slash || !attributes.contains('=')) {
        return None;
    }
    if !name.chars().all(is_of_name) {
        return None;
    }
    let mut parts = name.split(|c: char| !c.is_alphanumeric());
    let is_named_for_it = parts.any(|part| PARTS.contains(&part)) || NAMES.contains(&name);
    let is_end = has_slash || has_bars && (name.starts_with("end") || name.ends_with("end"));
    is_named_for_it.then_some(ThoughtTag { is_end, end })
}

/// The position behind the blocks with which a text in lower case begins, such as `<plan>…</plan>`.
pub(super) fn behind_blocks(text: &str) -> usize {
    let mut at = 0;
    loop {
        let rest = text[at..].trim_start();
        let end = BLOCKS.iter().find_map(|name| {
            let inner = rest.strip_prefix('<')?.strip_prefix(name)?.strip_prefix('>')?;
            let end = format!("</{name}>");
            Some(rest.len() - inner.len() + inner.find(&end)? + end.len())
        });
        let Some(end) = end else { return at };
        at = text.len() - rest.len() + end;
    }
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | ':' | '.' | '|')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_known_by_their_names() {
        for name in [
            "think",
            "thinking",
            "thought",
            "reasoning",
            "seed:think",
            "think_fast",
            "longcat_think",
            "mm:think",
            "think:6124c78e",
            "think_never_used_51bce0c785ca2f68081bfa7d91973934",
            "thinking_process",
            "antthinking",
            "inner_thoughts",
            "analysis",
            "scratchpad",
            "reflection",
            "rationale",
            "cot",
        ] {
            for (begin, end) in [
                (format!("<{name}>"), format!("</{name}>")),
                (format!("<{name} a=\"b\">"), format!("</ {name} >")),
                (format!("<|{name}|>"), format!("<|/{name}|>")),
                (format!("<｜{name}｜>"), format!("<｜{name}_end｜>")),
                (format!("[{name}]"), format!("[/{name}]")),
                (format!("◁{name}▷"), format!("◁/{name}▷")),
                (format!("&lt;{name}&gt;"), format!("&lt;/{name}&gt;")),
                (format!("\\u003c{name}\\u003e"), format!("\\u003c/{name}\\u003e")),
            ] {
                if NAMES.contains(&name) && end.ends_with("_end｜>") {
                    continue;
                }
                for (tag, is_end) in [(begin, false), (end, true)] {
                    let read = tag_at(&format!("{tag} tents")).map(|tag| (tag.is_end, tag.end));
                    assert_eq!(read, Some((is_end, tag.len())), "{tag}");
                }
            }
        }
        assert!(tag_at("<|begin_of_thought|>").is_some_and(|tag| !tag.is_end));
        assert!(tag_at("<|end_of_thought|>").is_some_and(|tag| tag.is_end));
        assert!(tag_at("<think/>tents").is_some_and(|tag| tag.is_end));
        for text in [
            "",
            "<",
            "<>",
            "<think",
            "<thinker>",
            "<a>",
            "[1]",
            "[think about it]",
            "<think about it>",
            "< think <b>",
            "think>",
            "&lt;",
            "& think",
            "[",
            "</p>",
            "<rethinking>",
        ] {
            assert!(tag_at(text).is_none(), "{text}");
        }
    }

    #[test]
    fn blocks_at_the_beginning_are_no_answer() {
        for (text, answer) in [
            ("<plan>a</plan>tents", "tents"),
            ("\n<step>a</step>\n<step>b</step>\ntents", "\ntents"),
            ("tents <plan>a</plan>", "tents <plan>a</plan>"),
            ("<plan>tents", "<plan>tents"),
            ("<planned>a</planned>tents", "<planned>a</planned>tents"),
        ] {
            assert_eq!(&text[behind_blocks(text)..], answer);
        }
    }

    #[test]
    fn tags_are_found_in_one_pass() {
        // A reader that takes quadratic time would not finish.
        for text in ["<", "[", "◁", "&", "<think", "&lt;", "<a b", "[<", "< >"] {
            let text = text.repeat((1 << 18) / text.len());
            assert_eq!(super::super::behind_tags(&text), 0);
        }
    }
}
