//! Markup that several sections share.

use maud::{Markup, html};

/// Wraps content that may be wider than the screen in a box of its own that scrolls by touch, mouse
/// or keyboard.
pub(crate) fn scroll(name: &str, content: &Markup) -> Markup {
    html! { div.scroll role="region" aria-label=(name) tabindex="0" { (content) } }
}
