//! One column of a Parquet file, from its physical values to one of the kinds that steps know.

use parquet::basic::{ConvertedType, LogicalType, TimeUnit as ParquetUnit, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType, Int96};
use parquet::errors::ParquetError;
use parquet::file::reader::FileReader;
use parquet::schema::types::ColumnDescriptor;

use crate::bounds::ROWS_MAX;
use crate::texts::TextsBuilder;
use crate::timestamp::{self, DAY, SECOND};
use crate::values::Values;

/// Values that are decoded at once.
const BATCH: usize = 16 * 1024;
/// The day that Julian days count from 1970-01-01.
const JULIAN_EPOCH: i64 = 2_440_588;

/// What one is of a count of time. Arrow has one more than Parquet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeUnit {
    Second,
    Millisecond,
    Microsecond,
    Nanosecond,
}

impl From<ParquetUnit> for TimeUnit {
    fn from(unit: ParquetUnit) -> Self {
        match unit {
            ParquetUnit::MILLIS => TimeUnit::Millisecond,
            ParquetUnit::MICROS => TimeUnit::Microsecond,
            ParquetUnit::NANOS => TimeUnit::Nanosecond,
        }
    }
}

/// What the physical values of a column stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    Plain,
    Unsigned,
    Date,
    Timestamp(TimeUnit),
    TimeOfDay(TimeUnit),
    /// Integers with so many of their digits behind the point.
    Decimal(i32),
    Duration(TimeUnit),
    Float16,
    /// Nothing but missing values.
    Null,
}

impl Meaning {
    pub(super) fn of(column: &ColumnDescriptor) -> Self {
        if let Some(logical) = column.logical_type_ref() {
            match logical {
                LogicalType::Integer(integer) if !integer.is_signed => return Meaning::Unsigned,
                LogicalType::Date => return Meaning::Date,
                LogicalType::Timestamp(timestamp) => return Meaning::Timestamp(timestamp.unit.into()),
                LogicalType::Time(time) => return Meaning::TimeOfDay(time.unit.into()),
                LogicalType::Decimal(decimal) => return Meaning::Decimal(decimal.scale),
                LogicalType::Float16 => return Meaning::Float16,
                LogicalType::Unknown => return Meaning::Null,
                // Older files say the same by their converted type, and others are what they are.
                _ => {}
            }
        }
        match column.converted_type() {
            ConvertedType::UINT_8 | ConvertedType::UINT_16 => Meaning::Unsigned,
            ConvertedType::UINT_32 | ConvertedType::UINT_64 => Meaning::Unsigned,
            ConvertedType::DATE => Meaning::Date,
            ConvertedType::TIMESTAMP_MILLIS => Meaning::Timestamp(TimeUnit::Millisecond),
            ConvertedType::TIMESTAMP_MICROS => Meaning::Timestamp(TimeUnit::Microsecond),
            ConvertedType::TIME_MILLIS => Meaning::TimeOfDay(TimeUnit::Millisecond),
            ConvertedType::TIME_MICROS => Meaning::TimeOfDay(TimeUnit::Microsecond),
            ConvertedType::DECIMAL => Meaning::Decimal(column.type_scale()),
            _ if column.physical_type() == Physical::INT96 => Meaning::Timestamp(TimeUnit::Microsecond),
            _ => Meaning::Plain,
        }
    }
}

/// The values of a column, one for each entry, and where each entry stands among nested lists.
pub(super) struct Leaf {
    pub(super) values: Values,
    pub(super) levels: Levels,
}

/// Parquet's levels of each entry: how much of the way to the value is there, and which list it continues.
/// Both are empty for a column without lists, whose entries are the rows.
#[derive(Default)]
pub(super) struct Levels {
    pub(super) definition: Vec<i16>,
    pub(super) repetition: Vec<i16>,
}

/// Values before their meaning is looked at.
enum Raw {
    Booleans(Vec<Option<bool>>),
    Integers(Vec<Option<i64>>),
    Numbers(Vec<Option<f64>>),
    Texts(TextsBuilder),
}

/// Reads one column of all row groups.
pub(super) fn read_leaf(file: &dyn FileReader, index: usize, meaning: Meaning) -> Result<Leaf, ParquetError> {
    let descriptor = file.metadata().file_metadata().schema_descr().column(index);
    let is_number = matches!(meaning, Meaning::Decimal(_) | Meaning::Float16);
    let mut raw = match descriptor.physical_type() {
        Physical::BOOLEAN => Raw::Booleans(Vec::new()),
        Physical::INT32 | Physical::INT64 | Physical::INT96 => Raw::Integers(Vec::new()),
        Physical::FLOAT | Physical::DOUBLE => Raw::Numbers(Vec::new()),
        Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY if is_number => Raw::Numbers(Vec::new()),
        Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY => Raw::Texts(TextsBuilder::default()),
    };
    let mut levels = Levels::default();
    for group in 0..file.num_row_groups() {
        let reader = file.get_row_group(group)?.get_column_reader(index)?;
        read_chunk(reader, &descriptor, meaning, &mut raw, &mut levels)?;
    }
    Ok(Leaf { values: interpreted(raw, meaning), levels })
}

fn read_chunk(
    reader: ColumnReader,
    descriptor: &ColumnDescriptor,
    meaning: Meaning,
    raw: &mut Raw,
    levels: &mut Levels,
) -> Result<(), ParquetError> {
    let is_unsigned = meaning == Meaning::Unsigned;
    let entries = Entries {
        definition_max: descriptor.max_def_level(),
        levels,
        is_nested: descriptor.max_rep_level() > 0,
    };
    match (reader, raw) {
        (ColumnReader::BoolColumnReader(reader), Raw::Booleans(list)) => {
            entries.each(reader, |value| list.push(value.copied()))
        }
        (ColumnReader::Int32ColumnReader(reader), Raw::Integers(list)) => entries.each(reader, |value| {
            let whole = |value: &i32| if is_unsigned { i64::from(*value as u32) } else { i64::from(*value) };
            list.push(value.map(whole));
        }),
        (ColumnReader::Int64ColumnReader(reader), Raw::Integers(list)) => {
            entries.each(reader, |value| list.push(value.copied()))
        }
        (ColumnReader::Int96ColumnReader(reader), Raw::Integers(list)) => {
            entries.each(reader, |value| list.push(value.map(julian_micros)))
        }
        (ColumnReader::FloatColumnReader(reader), Raw::Numbers(list)) => {
            entries.each(reader, |value| list.push(value.map(|value| f64::from(*value))))
        }
        (ColumnReader::DoubleColumnReader(reader), Raw::Numbers(list)) => {
            entries.each(reader, |value| list.push(value.copied()))
        }
        (ColumnReader::ByteArrayColumnReader(reader), Raw::Texts(builder)) => {
            entries.each(reader, |value| push_text(builder, value.map(ByteArray::data)))
        }
        (ColumnReader::FixedLenByteArrayColumnReader(reader), Raw::Texts(builder)) => {
            entries.each(reader, |value| push_text(builder, value.map(|value| value.data())))
        }
        (ColumnReader::ByteArrayColumnReader(reader), Raw::Numbers(list)) => {
            entries.each(reader, |value| list.push(value.map(|value| number_of(value.data(), meaning))))
        }
        (ColumnReader::FixedLenByteArrayColumnReader(reader), Raw::Numbers(list)) => {
            entries.each(reader, |value| list.push(value.map(|value| number_of(value.data(), meaning))))
        }
        (_, _) => Err(ParquetError::General("a column chunk has another type than its column".to_owned())),
    }
}

/// How the entries of a column chunk are told from missing ones.
struct Entries<'a> {
    /// The level of an entry that has a value.
    definition_max: i16,
    levels: &'a mut Levels,
    is_nested: bool,
}

impl Entries<'_> {
    fn each<T: DataType>(
        self,
        mut reader: ColumnReaderImpl<T>,
        mut put: impl FnMut(Option<&T::T>),
    ) -> Result<(), ParquetError> {
        let (mut values, mut definition, mut repetition) = (Vec::new(), Vec::new(), Vec::new());
        let mut total = 0;
        loop {
            values.clear();
            definition.clear();
            repetition.clear();
            let (records, _, entries) =
                reader.read_records(BATCH, Some(&mut definition), Some(&mut repetition), &mut values)?;
            if records == 0 && entries == 0 {
                return Ok(());
            }
            total += entries.max(records);
            if total > ROWS_MAX {
                return Err(ParquetError::General(format!("a column has more than {ROWS_MAX} values")));
            }
            if self.definition_max == 0 {
                values.iter().for_each(|value| put(Some(value)));
            } else {
                let mut present = values.iter();
                definition.iter().for_each(|level| {
                    put(if *level == self.definition_max { present.next() } else { None });
                });
            }
            if self.is_nested {
                self.levels.definition.extend_from_slice(&definition);
                self.levels.repetition.extend_from_slice(&repetition);
            }
        }
    }
}

fn push_text(builder: &mut TextsBuilder, bytes: Option<&[u8]>) {
    match bytes.map(std::str::from_utf8) {
        Some(Ok(text)) => builder.push(Some(text)),
        Some(Err(_)) => builder.push(bytes.map(String::from_utf8_lossy).as_deref()),
        None => builder.push(None),
    }
}

fn interpreted(raw: Raw, meaning: Meaning) -> Values {
    match (raw, meaning) {
        (Raw::Booleans(list), Meaning::Null) => Values::Null(list.len()),
        (Raw::Integers(list), Meaning::Null) => Values::Null(list.len()),
        (Raw::Numbers(list), Meaning::Null) => Values::Null(list.len()),
        (Raw::Booleans(list), _) => Values::Booleans(list),
        (Raw::Numbers(list), _) => Values::Numbers(list),
        (Raw::Texts(builder), Meaning::Null) => Values::Null(builder.finish().len()),
        (Raw::Texts(builder), _) => Values::Texts(builder.finish()),
        (Raw::Integers(list), meaning) => interpreted_integers(list, meaning),
    }
}

fn interpreted_integers(list: Vec<Option<i64>>, meaning: Meaning) -> Values {
    match meaning {
        Meaning::Date => Values::Dates(list),
        Meaning::Timestamp(unit) => Values::Datetimes(all(list, |value| micros_of(value, unit))),
        Meaning::Duration(unit) => Values::Numbers(all(list, |value| micros_of(value, unit) as f64 / 1e6)),
        // Times of day, as `09:30:00`.
        Meaning::TimeOfDay(unit) => Values::Texts(
            list.into_iter()
                .map(|value| value.map(|value| timestamp::time_text(micros_of(value, unit)).split_off(11)))
                .collect(),
        ),
        Meaning::Decimal(scale) => Values::Numbers(all(list, |value| scaled(value as f64, scale))),
        // What is negative here is beyond 63 bits.
        Meaning::Unsigned if list.iter().flatten().any(|value| *value < 0) => Values::Texts(
            list.into_iter().map(|value| value.map(|value| (value as u64).to_string())).collect(),
        ),
        Meaning::Unsigned | Meaning::Plain | Meaning::Float16 | Meaning::Null => Values::Integers(list),
    }
}

fn all<T>(list: Vec<Option<i64>>, change: impl Fn(i64) -> T) -> Vec<Option<T>> {
    list.into_iter().map(|value| value.map(&change)).collect()
}

fn micros_of(value: i64, unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Nanosecond => value.div_euclid(1_000),
        TimeUnit::Microsecond => value,
        TimeUnit::Millisecond => value.saturating_mul(1_000),
        TimeUnit::Second => value.saturating_mul(SECOND),
    }
}

/// A day and the nanoseconds since its beginning, as older programs write timestamps.
fn julian_micros(value: &Int96) -> i64 {
    let &[low, high, day] = value.data() else { return 0 };
    let nanos = (i64::from(high) << 32) | i64::from(low);
    (i64::from(day) - JULIAN_EPOCH).saturating_mul(DAY).saturating_add(nanos.div_euclid(1_000))
}

fn number_of(bytes: &[u8], meaning: Meaning) -> f64 {
    match meaning {
        Meaning::Float16 => float16(bytes),
        Meaning::Decimal(scale) => scaled(big_endian(bytes), scale),
        Meaning::Plain
        | Meaning::Unsigned
        | Meaning::Date
        | Meaning::Timestamp(_)
        | Meaning::TimeOfDay(_)
        | Meaning::Duration(_)
        | Meaning::Null => f64::NAN,
    }
}

/// A signed integer of any length, the most significant byte first.
fn big_endian(bytes: &[u8]) -> f64 {
    let is_negative = bytes.first().is_some_and(|first| *first >= 0x80);
    let filler = if is_negative { 0xff } else { 0 };
    if bytes.len() <= 16 {
        let mut whole = [filler; 16];
        whole.iter_mut().rev().zip(bytes.iter().rev()).for_each(|(own, byte)| *own = *byte);
        return i128::from_be_bytes(whole) as f64;
    }
    // A negative number is one less than its inverted bits say.
    let size = bytes.iter().fold(0.0, |size, byte| size * 256.0 + f64::from(*byte ^ filler));
    if is_negative { -1.0 - size } else { size }
}

fn scaled(unscaled: f64, scale: i32) -> f64 {
    unscaled / 10_f64.powi(scale)
}

/// A number of 16 bits: a sign, five bits of exponent, ten of fraction.
fn float16(bytes: &[u8]) -> f64 {
    let &[low, high] = bytes else { return f64::NAN };
    let bits = u16::from_le_bytes([low, high]);
    let fraction = f64::from(bits & 0x3ff) / 1024.0;
    let size = match (bits >> 10) & 0x1f {
        0 => fraction * 2_f64.powi(-14),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        exponent => (1.0 + fraction) * 2_f64.powi(i32::from(exponent) - 15),
    };
    if bits >> 15 == 0 { size } else { -size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_of_any_length_have_their_sign() {
        assert_eq!(scaled(big_endian(&[0x03, 0xf2]), 2), 10.1);
        assert_eq!(big_endian(&[0xff]), -1.0);
        assert_eq!(big_endian(&[0xff; 20]), -1.0);
        let mut long = [0; 20];
        long[19] = 7;
        assert_eq!((big_endian(&long), big_endian(&[])), (7.0, 0.0));
    }

    #[test]
    fn float16_has_its_value() {
        let check = |bits: u16, expected: f64| assert_eq!(float16(&bits.to_le_bytes()), expected);
        check(0x3c00, 1.0);
        check(0xc000, -2.0);
        check(0x3555, 0.333_251_953_125);
        check(0x0001, 2_f64.powi(-24));
        check(0x7c00, f64::INFINITY);
    }

    #[test]
    fn older_timestamps_count_julian_days() {
        let mut timestamp = Int96::new();
        timestamp.set_data(1_000_000, 0, 2_440_589);
        assert_eq!(julian_micros(&timestamp), DAY + 1_000);
    }
}
