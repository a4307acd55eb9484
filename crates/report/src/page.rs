//! The page around the sections: head, style, contents and footer; boxes that scroll, and marks of ranks.

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// A page loads and executes nothing, whatever a request or the name of a run contains.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
                      base-uri 'none'; form-action 'none'";
pub(crate) const STYLE: &str = include_str!("style.css");

/// A part of the page.
pub(crate) struct Section {
    /// The id of `content`.
    pub(crate) id: &'static str,
    /// The name in the contents.
    pub(crate) name: &'static str,
    pub(crate) content: Markup,
}

/// The content of a page.
pub(crate) struct Page<'a> {
    /// The title, which is also the first heading.
    pub(crate) title: &'a str,
    /// A sentence below the title that describes the comparison.
    pub(crate) lead: String,
    /// The result in a sentence or two.
    pub(crate) answer: Markup,
    /// The sections, in their order.
    pub(crate) sections: Vec<Section>,
    /// The footer, after the version of the program.
    pub(crate) footer: Markup,
    /// Styles of this kind of page.
    pub(crate) style: &'static str,
}

impl Page<'_> {
    /// The page as HTML.
    pub(crate) fn render(self) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                (head(self.title, self.style))
                body {
                    header {
                        h1 { (self.title) }
                        (self.answer)
                        p { (self.lead) }
                        nav aria-label="Contents" {
                            @for section in &self.sections {
                                a href={ "#" (section.id) } { (section.name) }
                            }
                        }
                    }
                    main { @for section in &self.sections { (section.content) } }
                    footer { p { "Made by clariq " (env!("CARGO_PKG_VERSION")) ". " (self.footer) } }
                }
            }
        };
        replace_controls(page.into_string())
    }
}

fn head(title: &str, style: &str) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(POLICY);
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            meta name="generator" content={ "clariq " (env!("CARGO_PKG_VERSION")) };
            // Without it, browsers request an icon from the server.
            link rel="icon" href="data:,";
            title { (title) }
            style { (PreEscaped(STYLE)) (PreEscaped(style)) }
        }
    }
}

/// Replaces control characters, which HTML does not allow, by a visible mark.
fn replace_controls(page: String) -> String {
    let stray = |c: char| c.is_control() && c != '\n';
    if page.contains(stray) { page.replace(stray, "\u{fffd}") } else { page }
}

/// Wraps content that may be wider than the screen in a box that scrolls by itself.
pub(crate) fn scroll(name: &str, content: &Markup) -> Markup {
    html! { div.scroll role="region" aria-label=(name) tabindex="0" { (content) } }
}

/// The place of a relevant document in a list, counted from 0, or that it is missed.
pub(crate) fn mark_rank(rank: Option<usize>) -> Markup {
    html! {
        @match rank {
            Some(rank) => { span.mark aria-hidden="true" { "✓ " } (rank + 1) },
            None => { span.cross aria-hidden="true" { "✗ " } "missed" },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_style_loads_nothing() {
        assert!(!STYLE.contains("url(") && !STYLE.contains("@import") && !STYLE.contains('<'));
    }
}
