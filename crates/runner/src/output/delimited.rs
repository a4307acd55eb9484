//! Tab- and comma-separated values, for spreadsheets and shell tools, quoted as in RFC 4180. Figures
//! keep all digits; nothing is an empty field.

use super::sheet::{Cell, Sheet, without_sign};
use csv::{Writer, WriterBuilder};
use std::io::{self, Write};

pub(super) fn write(sheet: &Sheet, delimiter: u8, out: &mut dyn Write) -> io::Result<()> {
    let mut records = open(delimiter, out);
    records.write_record(&sheet.header)?;
    for row in &sheet.rows {
        records.write_record(row.iter().map(write_cell))?;
    }
    records.flush()
}

/// Writes records with that delimiter. A field with a delimiter, a quote or a line end is quoted.
pub(crate) fn open(delimiter: u8, out: &mut dyn Write) -> Writer<&mut dyn Write> {
    WriterBuilder::new().delimiter(delimiter).flexible(true).from_writer(out)
}

fn write_cell(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => text.clone(),
        Cell::Count(count) => count.to_string(),
        Cell::Compared(figure) => without_sign(figure.value).to_string(),
        Cell::Number(figure, _) | Cell::Short(figure, _) | Cell::Probability(figure) => {
            without_sign(*figure).to_string()
        }
        Cell::Between(..) => cell.shown(),
        Cell::Mark(marked) => marked.to_string(),
        Cell::Nothing => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn written_texts_are_read_back(
            rows in prop::collection::vec(prop::array::uniform3("[ab\"',; \t\n\\\\é#]{0,8}"), 1..6),
            delimiter in prop::sample::select(&b"\t,"[..]),
        ) {
            let mut sheet = Sheet::new(&["one", "\"two\"", "three, or\tmore"]);
            for row in &rows {
                sheet.row(row.iter().map(Cell::text).collect());
            }
            let mut bytes = Vec::new();
            write(&sheet, delimiter, &mut bytes).unwrap();
            let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(&*bytes);
            prop_assert_eq!(reader.headers().unwrap(), &csv::StringRecord::from(sheet.header));
            let read: Vec<[String; 3]> = reader.deserialize().map(Result::unwrap).collect();
            prop_assert_eq!(read, rows);
        }
    }
}
