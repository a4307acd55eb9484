//! A LaTeX table, for papers: `tabular` with the rules of the package `booktabs`, in a `table` if it has a caption.

use super::sheet::{Cell, ComparedNumber, Direction, Sheet};
use std::io::{self, Write};

pub(super) fn write(sheet: &Sheet, out: &mut dyn Write) -> io::Result<()> {
    let numbers = 0..sheet.header.len();
    let columns: String =
        numbers.map(|column| if sheet.is_text(column) { 'l' } else { 'r' }).collect();
    writeln!(out, "% needs \\usepackage{{booktabs}}")?;
    if let Some(caption) = &sheet.caption {
        writeln!(out, "\\begin{{table}}\n\\centering\n\\caption{{{}}}", escaped(caption))?;
    }
    writeln!(out, "\\begin{{tabular}}{{{columns}}}\n\\toprule")?;
    write_groups(sheet, out)?;
    let header: Vec<String> = sheet.header.iter().map(|name| escaped(name)).collect();
    writeln!(out, "{} \\\\\n\\midrule", header.join(" & "))?;
    for row in &sheet.rows {
        let fields: Vec<String> = row.iter().map(field).collect();
        writeln!(out, "{} \\\\", fields.join(" & "))?;
    }
    writeln!(out, "\\bottomrule\n\\end{{tabular}}")?;
    if sheet.caption.is_some() {
        writeln!(out, "\\end{{table}}")?;
    }
    Ok(())
}

/// A row above the header with the groups of columns, each with a rule below it.
fn write_groups(sheet: &Sheet, out: &mut dyn Write) -> io::Result<()> {
    let mut cells = Vec::new();
    let mut rules = Vec::new();
    let mut first = 1;
    for (name, columns) in &sheet.groups {
        let last = first + columns - 1;
        cells.push(format!("\\multicolumn{{{columns}}}{{c}}{{{}}}", escaped(name)));
        if !name.is_empty() {
            rules.push(format!("\\cmidrule(lr){{{first}-{last}}}"));
        }
        first = last + 1;
    }
    if cells.is_empty() {
        return Ok(());
    }
    writeln!(out, "{} \\\\\n{}", cells.join(" & "), rules.concat())
}

/// A number with a minus sign in place of a hyphen.
fn field(cell: &Cell) -> String {
    let shown = cell.shown();
    match cell {
        Cell::Nothing => "--".to_owned(),
        Cell::Mark(true) => "$^{*}$".to_owned(),
        Cell::Compared(number) => compared(number, &shown),
        Cell::Between(ends, digits) => {
            let [low, high] = ends.map(|end| field(&Cell::Number(end, *digits)));
            format!("[{low}, {high}]")
        }
        Cell::Number(..) | Cell::Probability(_) if shown.starts_with(['-', '<']) => {
            format!("${shown}$")
        }
        _ => escaped(&shown),
    }
}

/// The best number in bold, with a dagger if it is significantly better than the baseline, and a
/// double dagger if it is worse.
fn compared(number: &ComparedNumber, shown: &str) -> String {
    let shown = if shown.starts_with('-') { format!("${shown}$") } else { shown.to_owned() };
    let shown = if number.is_best { format!("\\textbf{{{shown}}}") } else { shown };
    match number.direction {
        Some(Direction::Better) => format!("{shown}$^{{\\dagger}}$"),
        Some(Direction::Worse) => format!("{shown}$^{{\\ddagger}}$"),
        None => shown,
    }
}

/// The characters that mean something to LaTeX, as themselves.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' => escaped.push_str("\\textbackslash{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '<' => escaped.push_str("\\textless{}"),
            '>' => escaped.push_str("\\textgreater{}"),
            '|' => escaped.push_str("\\textbar{}"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => escaped.extend(['\\', character]),
            '\n' | '\t' => escaped.push(' '),
            character => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latex_commands_in_texts_are_escaped() {
        assert_eq!(escaped("a_b & 50% of #1 {$x$}"), "a\\_b \\& 50\\% of \\#1 \\{\\$x\\$\\}");
        assert_eq!(
            escaped("C:\\x^2~<y>"),
            "C:\\textbackslash{}x\\textasciicircum{}2\\textasciitilde{}\\textless{}y\\textgreater{}"
        );
    }

    #[test]
    fn a_table_is_a_tabular() {
        let mut sheet = Sheet::new(&["run", "p_t", "diff", ""]);
        let cells = vec![
            Cell::text("a_b"),
            Cell::Probability(1e-5),
            Cell::Number(-0.5, 2),
            Cell::Mark(true),
        ];
        sheet.row(cells);
        sheet.caption = Some("50 % of #1".to_owned());
        sheet.row(vec![Cell::text("c"), Cell::Nothing, Cell::Number(0.25, 2), Cell::Mark(false)]);
        let mut bytes = Vec::new();
        write(&sheet, &mut bytes).unwrap();
        let expected = "% needs \\usepackage{booktabs}\n\\begin{table}\n\\centering\n\\caption{50 \\% of \\#1}\n\
                        \\begin{tabular}{lrrr}\n\\toprule\nrun & p\\_t & diff &  \\\\\n\
                        \\midrule\na\\_b & $<.001$ & $-0.50$ & $^{*}$ \\\\\nc & -- & 0.25 &  \\\\\n\
                        \\bottomrule\n\\end{tabular}\n\\end{table}\n";
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    }
}
