//! Units and what they measure.

use crate::unknown_name;

/// What a unit measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Length,
    Mass,
    Temperature,
    Time,
    Data,
}

impl Kind {
    pub fn word(self) -> &'static str {
        match self {
            Self::Length => "length",
            Self::Mass => "mass",
            Self::Temperature => "temperature",
            Self::Time => "time",
            Self::Data => "data",
        }
    }
}

/// One unit. `value * factor + shift` is the value in the kind's first unit.
#[derive(Debug, PartialEq)]
pub struct Unit {
    /// The full name, in the singular.
    pub name: &'static str,
    symbol: &'static str,
    pub kind: Kind,
    factor: f64,
    shift: f64,
}

const fn unit(name: &'static str, symbol: &'static str, kind: Kind, factor: f64) -> Unit {
    Unit { name, symbol, kind, factor, shift: 0.0 }
}

const UNITS: [Unit; 38] = [
    unit("metre", "m", Kind::Length, 1.0),
    unit("kilometre", "km", Kind::Length, 1000.0),
    unit("centimetre", "cm", Kind::Length, 0.01),
    unit("millimetre", "mm", Kind::Length, 0.001),
    unit("mile", "mi", Kind::Length, 1609.344),
    unit("yard", "yd", Kind::Length, 0.9144),
    unit("foot", "ft", Kind::Length, 0.3048),
    unit("inch", "in", Kind::Length, 0.0254),
    unit("nautical_mile", "nmi", Kind::Length, 1852.0),
    unit("kilogram", "kg", Kind::Mass, 1.0),
    unit("gram", "g", Kind::Mass, 0.001),
    unit("milligram", "mg", Kind::Mass, 0.000_001),
    unit("tonne", "t", Kind::Mass, 1000.0),
    unit("pound", "lb", Kind::Mass, 0.453_592_37),
    unit("ounce", "oz", Kind::Mass, 0.028_349_523_125),
    unit("stone", "st", Kind::Mass, 6.350_293_18),
    unit("kelvin", "K", Kind::Temperature, 1.0),
    Unit { name: "celsius", symbol: "C", kind: Kind::Temperature, factor: 1.0, shift: 273.15 },
    Unit {
        name: "fahrenheit",
        symbol: "F",
        kind: Kind::Temperature,
        factor: 5.0 / 9.0,
        shift: 273.15 - 160.0 / 9.0,
    },
    unit("second", "s", Kind::Time, 1.0),
    unit("millisecond", "ms", Kind::Time, 0.001),
    unit("microsecond", "us", Kind::Time, 0.000_001),
    unit("minute", "min", Kind::Time, 60.0),
    unit("hour", "h", Kind::Time, 3600.0),
    unit("day", "d", Kind::Time, 86_400.0),
    unit("week", "wk", Kind::Time, 604_800.0),
    unit("year", "yr", Kind::Time, 31_557_600.0),
    unit("byte", "B", Kind::Data, 1.0),
    unit("bit", "bit", Kind::Data, 0.125),
    unit("kilobyte", "kB", Kind::Data, 1e3),
    unit("megabyte", "MB", Kind::Data, 1e6),
    unit("gigabyte", "GB", Kind::Data, 1e9),
    unit("terabyte", "TB", Kind::Data, 1e12),
    unit("kibibyte", "KiB", Kind::Data, 1024.0),
    unit("mebibyte", "MiB", Kind::Data, 1_048_576.0),
    unit("gibibyte", "GiB", Kind::Data, 1_073_741_824.0),
    unit("tebibyte", "TiB", Kind::Data, 1_099_511_627_776.0),
    unit("megabit", "Mbit", Kind::Data, 125_000.0),
];

/// The unit of that name (also in the plural or in American spelling) or symbol.
pub fn find(given: &str) -> Result<&'static Unit, String> {
    if let Some(unit) = UNITS.iter().find(|unit| unit.symbol == given) {
        return Ok(unit);
    }
    let name = given.trim().to_lowercase().replace([' ', '-'], "_");
    let named =
        |name: &str| UNITS.iter().find(|unit| unit.name == name || unit.symbol.to_lowercase() == name);
    let plural = match name.as_str() {
        "feet" => Some("foot"),
        "inches" => Some("inch"),
        name => name.strip_suffix('s'),
    };
    let british = plural.unwrap_or(&name).strip_suffix("meter").map(|start| format!("{start}metre"));
    [Some(name.as_str()), plural, british.as_deref()]
        .into_iter()
        .flatten()
        .find_map(named)
        .ok_or_else(|| unknown_name::unknown("unit", given, UNITS.iter().map(|unit| unit.name)))
}

/// The value in another unit of the same kind.
pub fn convert(value: f64, from: &Unit, to: &Unit) -> Result<f64, String> {
    if from.kind != to.kind {
        let (one, other) = (from.kind.word(), to.kind.word());
        return Err(format!(
            "{} measures {one} and {} measures {other}; both must be of one kind",
            from.name, to.name
        ));
    }
    let base = value * from.factor + from.shift;
    if from.kind == Kind::Temperature && base < -1e-9 {
        return Err(format!("{value} {} is below absolute zero", from.name));
    }
    // Twelve digits: what is left over from binary fractions would only confuse.
    let converted = (base - to.shift) / to.factor;
    Ok(format!("{converted:.12e}").parse().unwrap_or(converted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_converted() {
        let check = |value: f64, from: &str, to: &str, expected: f64| {
            let (from, to) = (find(from).expect(from), find(to).expect(to));
            assert_eq!(convert(value, from, to), Ok(expected), "{value} {} to {}", from.name, to.name);
        };
        check(1.0, "mile", "km", 1.609344);
        check(100.0, "C", "fahrenheit", 212.0);
        check(-40.0, "F", "C", -40.0);
        check(0.0, "celsius", "kelvin", 273.15);
        check(36.0, "hours", "day", 1.5);
        check(1.0, "GiB", "MiB", 1024.0);
        check(8.0, "bits", "byte", 1.0);
        check(3.0, "feet", "yd", 1.0);
        check(5.0, "kilometers", "Meter", 5000.0);
        check(2.0, "Nautical Miles", "m", 3704.0);
    }

    #[test]
    fn units_that_do_not_go_together_are_refused_with_reasons() {
        let check = |value: f64, from: &str, to: &str, expected: &str| {
            let outcome = find(from).and_then(|from| convert(value, from, find(to)?));
            assert!(outcome.as_ref().is_err_and(|error| error.starts_with(expected)), "{outcome:?}");
        };
        check(1.0, "mile", "kg", "mile measures length and kilogram measures mass");
        check(-300.0, "celsius", "kelvin", "-300 celsius is below absolute zero");
        check(1.0, "killogram", "kg", "no unit `killogram`; did you mean `kilogram`? there are: metre, ");
    }
}
