//! The charts of a page as files of their own.

use crate::page::STYLE;

/// A chart of a page.
#[derive(Debug, PartialEq, Eq)]
pub struct Chart {
    /// Its id on the page.
    pub id: String,
    pub svg: String,
}

/// The charts of a page, in their order.
pub fn charts(page: &str) -> Vec<Chart> {
    let style = style();
    let mut charts = Vec::new();
    let mut rest = page;
    while let Some((_, after)) = rest.split_once("<svg class=\"chart") {
        let Some((chart, after)) = after.split_once("</svg>") else { break };
        rest = after;
        let Some((_, labelled)) = chart.split_once("aria-labelledby=\"") else { continue };
        let Some((id, _)) = labelled.split_once('"') else { continue };
        let Some((tag, content)) = chart.split_once('>') else { continue };
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart{tag}><style>{style}</style>\
             {content}</svg>\n"
        );
        charts.push(Chart { id: id.to_owned(), svg });
    }
    charts
}

/// The style of charts in the light colours of the page, without variables, which few programs for
/// SVG know.
fn style() -> String {
    let colors = colors();
    let rules = STYLE.lines().skip_while(|line| !line.starts_with(".chart text"));
    let rules = rules.take_while(|line| !line.starts_with(".legend"));
    let mut style = ".chart { font-family: \"DejaVu Sans\", sans-serif; }\n".to_owned();
    for line in rules {
        let mut line = line.to_owned();
        for (name, color) in &colors {
            line = line.replace(&format!("var({name})"), color);
        }
        style.push_str(&line);
        style.push('\n');
    }
    style
}

/// The variables of the first block of the style, with their values.
fn colors() -> Vec<(&'static str, &'static str)> {
    let block = STYLE.split_once('{').and_then(|(_, rest)| rest.split_once('}'));
    let declarations = block.map_or("", |(block, _)| block).split(';');
    declarations
        .filter_map(|declaration| declaration.split_once(':'))
        .map(|(name, value)| (name.trim(), value.trim()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bars::{self, Bar};

    #[test]
    fn charts_are_documents_of_their_own() {
        let bars = [Bar { name: "1", value: 0.5 }];
        let chart = |id| bars::chart(&bars, id, "A title", "AP", "topic").into_string();
        let page = format!("<p>{}</p><svg class=\"swatch\"></svg>{}", chart("a"), chart("b"));
        let found = charts(&page);
        assert_eq!(found.iter().map(|chart| &*chart.id).collect::<Vec<_>>(), ["a", "b"]);
        let svg = &found[0].svg;
        assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart wide\""));
        assert!(svg.contains("fill: #1f6fb2") && !svg.contains("var("), "{svg}");
        assert!(svg.contains("<rect class=\"better\"") && svg.ends_with("</svg>\n"), "{svg}");
    }
}
