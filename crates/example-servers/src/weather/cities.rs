//! The cities that have weather, and where they are.

use crate::unknown_name;

#[derive(Debug)]
pub struct City {
    /// Its name in English.
    pub name: &'static str,
    pub country: &'static str,
    pub latitude: f64,
    pub longitude: f64,
    /// How much the year swings beyond what the latitude says: 0 at a coast, 1 far inland.
    pub inland: f64,
}

const fn city(name: &'static str, country: &'static str, latitude: f64, longitude: f64, inland: f64) -> City {
    City { name, country, latitude, longitude, inland }
}

/// In order of their names.
pub const CITIES: [City; 60] = [
    city("Accra", "GH", 5.6, -0.2, 0.0),
    city("Amsterdam", "NL", 52.4, 4.9, 0.1),
    city("Athens", "GR", 38.0, 23.7, 0.3),
    city("Auckland", "NZ", -36.8, 174.8, 0.0),
    city("Bangkok", "TH", 13.8, 100.5, 0.2),
    city("Barcelona", "ES", 41.4, 2.2, 0.2),
    city("Beijing", "CN", 39.9, 116.4, 0.9),
    city("Berlin", "DE", 52.5, 13.4, 0.4),
    city("Bogota", "CO", 4.7, -74.1, 0.0),
    city("Brussels", "BE", 50.9, 4.4, 0.2),
    city("Bucharest", "RO", 44.4, 26.1, 0.7),
    city("Budapest", "HU", 47.5, 19.0, 0.6),
    city("Buenos Aires", "AR", -34.6, -58.4, 0.2),
    city("Cairo", "EG", 30.0, 31.2, 0.4),
    city("Cape Town", "ZA", -33.9, 18.4, 0.0),
    city("Chicago", "US", 41.9, -87.6, 0.8),
    city("Copenhagen", "DK", 55.7, 12.6, 0.2),
    city("Dakar", "SN", 14.7, -17.5, 0.0),
    city("Delhi", "IN", 28.6, 77.2, 0.7),
    city("Denver", "US", 39.7, -105.0, 0.8),
    city("Dublin", "IE", 53.3, -6.3, 0.0),
    city("Geneva", "CH", 46.2, 6.1, 0.4),
    city("Hanoi", "VN", 21.0, 105.8, 0.4),
    city("Helsinki", "FI", 60.2, 24.9, 0.4),
    city("Hong Kong", "HK", 22.3, 114.2, 0.2),
    city("Istanbul", "TR", 41.0, 29.0, 0.3),
    city("Jakarta", "ID", -6.2, 106.8, 0.0),
    city("Johannesburg", "ZA", -26.2, 28.0, 0.3),
    city("Kyiv", "UA", 50.5, 30.5, 0.7),
    city("Lagos", "NG", 6.5, 3.4, 0.0),
    city("Lima", "PE", -12.0, -77.0, 0.1),
    city("Lisbon", "PT", 38.7, -9.1, 0.1),
    city("London", "GB", 51.5, -0.1, 0.1),
    city("Los Angeles", "US", 34.1, -118.2, 0.1),
    city("Madrid", "ES", 40.4, -3.7, 0.6),
    city("Melbourne", "AU", -37.8, 145.0, 0.2),
    city("Mexico City", "MX", 19.4, -99.1, 0.2),
    city("Milan", "IT", 45.5, 9.2, 0.5),
    city("Montreal", "CA", 45.5, -73.6, 0.9),
    city("Mumbai", "IN", 19.1, 72.9, 0.1),
    city("Munich", "DE", 48.1, 11.6, 0.5),
    city("Nairobi", "KE", -1.3, 36.8, 0.0),
    city("New York", "US", 40.7, -74.0, 0.6),
    city("Oslo", "NO", 59.9, 10.8, 0.5),
    city("Paris", "FR", 48.9, 2.4, 0.2),
    city("Prague", "CZ", 50.1, 14.4, 0.5),
    city("Reykjavik", "IS", 64.1, -21.9, 0.0),
    city("Rome", "IT", 41.9, 12.5, 0.3),
    city("San Francisco", "US", 37.8, -122.4, 0.0),
    city("Santiago", "CL", -33.5, -70.7, 0.3),
    city("Sao Paulo", "BR", -23.6, -46.6, 0.2),
    city("Seoul", "KR", 37.6, 127.0, 0.8),
    city("Singapore", "SG", 1.4, 103.8, 0.0),
    city("Stockholm", "SE", 59.3, 18.1, 0.3),
    city("Sydney", "AU", -33.9, 151.2, 0.1),
    city("Tokyo", "JP", 35.7, 139.7, 0.4),
    city("Toronto", "CA", 43.7, -79.4, 0.7),
    city("Vancouver", "CA", 49.3, -123.1, 0.1),
    city("Vienna", "AT", 48.2, 16.4, 0.5),
    city("Warsaw", "PL", 52.2, 21.0, 0.6),
];

/// The city of that name, however it is capitalised.
pub fn find(name: &str) -> Result<&'static City, String> {
    let wanted = name.trim();
    CITIES
        .iter()
        .find(|city| city.name.eq_ignore_ascii_case(wanted))
        .ok_or_else(|| unknown_name::unknown("city", name, CITIES.iter().map(|city| city.name)))
}
