//! The charts of a page as files of their own.

use crate::page::STYLE;

/// A chart of a page.
#[derive(Debug, PartialEq, Eq)]
pub struct Chart {
    /// Its title, which names runs and measures, as the name of a file without an ending.
    pub name: String,
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
        let Some((tag, content)) = chart.split_once('>') else { continue };
        let Some((_, titled)) = content.split_once("<title") else { continue };
        let Some((_, title)) = titled.split_once('>') else { continue };
        let Some((title, _)) = title.split_once("</title>") else { continue };
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart{tag}><style>{style}</style>\
             {content}</svg>\n"
        );
        let name = file_name(title);
        let before = charts.iter().filter(|chart: &&Chart| chart.name.starts_with(&name)).count();
        let name = if before > 0 { format!("{name}-{}", before + 1) } else { name };
        charts.push(Chart { name, svg });
    }
    charts
}

/// The most characters of the name of a file.
const MOST_OF_A_NAME: usize = 120;

/// A title as the name of a file: letters, digits and the signs of names, with a hyphen for all else.
fn file_name(title: &str) -> String {
    let is_kept = |c: char| c.is_alphanumeric() || matches!(c, '@' | '.' | '_' | '-');
    let words = title.split(|c: char| !is_kept(c)).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").chars().take(MOST_OF_A_NAME).collect()
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
        let chart = |title| bars::chart(&bars, "id", title, "AP", "topic").into_string();
        let titles = ["R@5 of a/b (k1 0.9) minus R@5 of c", "Means", "Means"].map(chart);
        let page =
            format!("<p>{}</p><svg class=\"swatch\"></svg>{}{}", titles[0], titles[1], titles[2]);
        let found = charts(&page);
        let names: Vec<&str> = found.iter().map(|chart| &*chart.name).collect();
        assert_eq!(names, ["R@5-of-a-b-k1-0.9-minus-R@5-of-c", "Means", "Means-2"]);
        let svg = &found[0].svg;
        assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart wide\""));
        assert!(svg.contains("fill: #1f6fb2") && !svg.contains("var("), "{svg}");
        assert!(svg.contains("<rect class=\"better\"") && svg.ends_with("</svg>\n"), "{svg}");
    }
}
