//! The weather of a day: a curve over the year from latitude and distance to the sea, and noise
//! that lasts for some days, as weather does.

use std::f64::consts::TAU;

use super::cities::City;
use crate::calendar::{date_of, day_of_year};
use crate::noise;

/// Every condition that there is.
pub const CONDITIONS: [&str; 8] =
    ["clear", "partly cloudy", "cloudy", "fog", "rain", "heavy rain", "thunderstorm", "snow"];

#[derive(Debug, Clone, PartialEq)]
pub struct Day {
    /// `YYYY-MM-DD`.
    pub date: String,
    pub temp_min_c: f64,
    pub temp_max_c: f64,
    /// Rain or melted snow.
    pub precipitation_mm: f64,
    pub wind_kmh: f64,
    pub humidity_percent: u64,
    /// One of [`CONDITIONS`].
    pub condition: &'static str,
}

/// The weather of a city on a day.
pub fn day(city: &City, number: i64) -> Day {
    let seed = city.name.bytes().fold(17, |sum, byte| noise::at(sum, u64::from(byte), 0));
    let distance = city.latitude.abs();
    let mean = 28.0 - 0.006 * distance * distance - 0.05 * distance;
    let swing = (distance / 60.0).min(1.0) * (7.0 + 8.0 * city.inland);
    // The warmest day comes some weeks after the longest one: the 20th of July in the north.
    let warmest = if city.latitude < 0.0 { 18.0 } else { 200.0 };
    let season = ((day_of_year(number) as f64 - warmest) / 365.25 * TAU).cos();
    let spell = smooth(seed, number, 1) * (2.0 + distance / 15.0);
    let high = mean + 4.0 + swing * season + spell;
    let low = high - 5.0 - 4.0 * noise::unit(seed, number.cast_unsigned(), 2) - 3.0 * city.inland;

    let wetness = smooth(seed, number, 3) + 0.6 * (noise::unit(seed, number.cast_unsigned(), 4) - 0.5);
    let falls = (wetness - 0.25).max(0.0);
    let precipitation = falls * falls * 38.0;
    let wind = 6.0 + 16.0 * noise::unit(seed, number.cast_unsigned(), 5) + 8.0 * falls;
    let humidity = (62.0 + 26.0 * wetness - 10.0 * city.inland).clamp(18.0, 99.0);
    let condition = match precipitation {
        rain if rain > 0.2 && high < 1.5 => "snow",
        rain if rain > 14.0 && high > 22.0 => "thunderstorm",
        rain if rain > 12.0 => "heavy rain",
        rain if rain > 0.2 => "rain",
        _ if wetness > 0.1 && wind < 9.0 => "fog",
        _ if wetness > 0.0 => "cloudy",
        _ if wetness > -0.35 => "partly cloudy",
        _ => "clear",
    };
    Day {
        date: date_of(number),
        temp_min_c: tenths(low),
        temp_max_c: tenths(high),
        precipitation_mm: if precipitation > 0.2 { tenths(precipitation) } else { 0.0 },
        wind_kmh: tenths(wind),
        humidity_percent: humidity.round() as u64,
        condition,
    }
}

/// Rounded to one digit behind the point.
pub fn tenths(value: f64) -> f64 {
    let rounded = (value * 10.0).round() / 10.0;
    if rounded == 0.0 { 0.0 } else { rounded }
}

/// From -1 to 1, and not far from the day before.
fn smooth(seed: u64, number: i64, stream: u64) -> f64 {
    const DAYS: i64 = 4;
    let (block, within) = (number.div_euclid(DAYS), number.rem_euclid(DAYS) as f64 / DAYS as f64);
    let at = |block: i64| noise::unit(seed, block.cast_unsigned(), stream) * 2.0 - 1.0;
    at(block) * (1.0 - within) + at(block + 1) * within
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weather::cities::CITIES;

    #[test]
    fn the_weather_stays_within_what_the_earth_knows() {
        for city in &CITIES {
            for number in 16_436..20_640 {
                let day = day(city, number);
                let sane = (-45.0..day.temp_max_c).contains(&day.temp_min_c)
                    && day.temp_max_c < 50.0
                    && (0.0..120.0).contains(&day.precipitation_mm)
                    && day.humidity_percent <= 100
                    && CONDITIONS.contains(&day.condition);
                assert!(sane, "{} {day:?}", city.name);
            }
        }
    }

    #[test]
    fn every_condition_happens_somewhere() {
        for condition in CONDITIONS {
            let happens =
                CITIES.iter().any(|city| (20_000..20_365).any(|n| day(city, n).condition == condition));
            assert!(happens, "{condition}");
        }
    }
}
