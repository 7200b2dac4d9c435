//! Parquet, and how its many types become the few kinds that steps know.

use std::collections::{BTreeSet, HashMap};

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::arrow_schema::durations;
use super::parquet_leaf::{Leaf, Meaning, TimeUnit, read_leaf};
use super::parquet_tree::{Node, Shape, list_texts, nodes_of};
use crate::bounds::{COLUMNS_MAX, ROWS_MAX};
use crate::column::Column;
use crate::outcome::{Notes, Problem};
use crate::table::{NESTED, Table, display_name};
use crate::values::Values;

pub(super) fn read_parquet(bytes: Vec<u8>, notes: &mut Notes) -> Result<Table, Problem> {
    let file = SerializedFileReader::new(Bytes::from(bytes)).map_err(parquet_problem)?;
    let about = file.metadata().file_metadata();
    let rows = usize::try_from(about.num_rows()).unwrap_or(usize::MAX);
    let width = about.schema_descr().root_schema().get_fields().len();
    if rows > ROWS_MAX || width > COLUMNS_MAX {
        let message = format!(
            "the Parquet data has {rows} rows and {width} columns; {ROWS_MAX} and {COLUMNS_MAX} are the most"
        );
        return Err(Problem::new(message).hint("split it and analyze the parts"));
    }
    let nodes = nodes_of(about.schema_descr().root_schema())?;
    let written_by_arrow =
        about.key_value_metadata().into_iter().flatten().find(|pair| pair.key == "ARROW:schema");
    let durations =
        written_by_arrow.and_then(|pair| pair.value.as_deref()).map(durations).unwrap_or_default();
    let mut plain = Plain { file: &file, durations, columns: Vec::new(), lists: BTreeSet::new(), notes };
    for node in &nodes {
        plain.add(node, node.name.replace(NESTED, " "), vec![node.name.clone()])?;
    }
    let Plain { columns, lists, .. } = plain;
    let rows = columns.first().map_or(rows, Column::len);
    Ok(Table::new(rows, columns)?.with_lists(lists))
}

/// Columns of plain kinds.
struct Plain<'a> {
    file: &'a SerializedFileReader<Bytes>,
    /// Columns of durations by their path, which only Arrow's own schema tells from integers.
    durations: HashMap<Vec<String>, TimeUnit>,
    columns: Vec<Column>,
    lists: BTreeSet<String>,
    notes: &'a mut Notes,
}

impl Plain<'_> {
    fn add(&mut self, node: &Node, name: String, path: Vec<String>) -> Result<(), Problem> {
        let values = match &node.shape {
            Shape::Members(members) => {
                for member in members {
                    let member_name = format!("{name}{NESTED}{}", member.name.replace(NESTED, " "));
                    let member_path = path.iter().chain([&member.name]).cloned().collect();
                    self.add(member, member_name, member_path)?;
                }
                return Ok(());
            }
            Shape::Leaf(index) => self.read(*index, &name, self.durations.get(&path).copied())?.values,
            Shape::Items(_) => {
                let mut leaves = Vec::new();
                for index in node.leaves() {
                    leaves.push((index, self.read(index, &name, None)?));
                }
                self.lists.insert(name.clone());
                Values::Texts(list_texts(node, &leaves).into_iter().collect())
            }
        };
        self.columns.push(Column::new(name, values));
        Ok(())
    }

    fn read(&mut self, index: usize, name: &str, duration: Option<TimeUnit>) -> Result<Leaf, Problem> {
        let descriptor = self.file.metadata().file_metadata().schema_descr().column(index);
        let meaning = match (Meaning::of(&descriptor), duration) {
            (Meaning::Plain, Some(unit)) => Meaning::Duration(unit),
            (meaning, _) => meaning,
        };
        let leaf = read_leaf(self.file, index, meaning).map_err(parquet_problem)?;
        let field = display_name(name);
        match (meaning, &leaf.values) {
            (Meaning::Unsigned, Values::Texts(_)) => self
                .notes
                .add(format!("field {field:?} has integers too large for 64 bits; it's read as text")),
            (Meaning::Decimal(_), _) => self.notes.add(format!(
                "field {field:?} has decimals; they're read as 64-bit floats (about 16 digits)"
            )),
            (Meaning::Duration(_), _) => {
                self.notes.add(format!("field {field:?} has durations; they're read as seconds"))
            }
            _ => {}
        }
        Ok(leaf)
    }
}

fn parquet_problem(error: ParquetError) -> Problem {
    let text = error.to_string();
    let short: String = text.lines().next().unwrap_or_default().chars().take(300).collect();
    Problem::new(format!("can't read the Parquet data: {short}")).hint("check that the file is complete")
}
