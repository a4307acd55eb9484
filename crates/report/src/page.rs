//! The page around the sections: head, style, contents and footer.

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// Nothing is loaded and nothing executes, whatever a request or the name of a run contains.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
                      base-uri 'none'; form-action 'none'";
const STYLE: &str = include_str!("style.css");

/// A part of the page.
pub(crate) struct Section {
    /// The id of `content`.
    pub(crate) id: &'static str,
    /// The name in the contents.
    pub(crate) name: &'static str,
    pub(crate) content: Markup,
}

/// What stands on a page.
pub(crate) struct Page<'a> {
    pub(crate) title: &'a str,
    /// What is compared, as a sentence below the title.
    pub(crate) lead: String,
    pub(crate) sections: Vec<Section>,
    /// What stands below the page, after the version of the program.
    pub(crate) footer: Markup,
    /// Style that this kind of page alone has.
    pub(crate) style: &'static str,
}

impl Page<'_> {
    pub(crate) fn render(self) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                (head(self.title, self.style))
                body {
                    header {
                        h1 { (self.title) }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_style_loads_nothing() {
        for style in [STYLE, crate::ikat::STYLE] {
            assert!(!style.contains("url(") && !style.contains("@import") && !style.contains('<'));
        }
    }
}
