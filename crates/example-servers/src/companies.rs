//! The companies and people that the example data speaks of. All are made up. The same company has
//! the same number in `crm`, in `database` and in `documents`.

use super::noise;

/// How many companies there are.
pub const COMPANIES: u64 = 300;

const FIRST: [&str; 20] = [
    "Alderbrook",
    "Brightwater",
    "Cinderford",
    "Dovecote",
    "Eastmere",
    "Foxglove",
    "Greystone",
    "Hollowell",
    "Ironbridge",
    "Juniper",
    "Kestrel",
    "Larkfield",
    "Millrace",
    "Northgate",
    "Oakhanger",
    "Pennyworth",
    "Quayside",
    "Ravensworth",
    "Saltmarsh",
    "Thistledown",
];
const SECOND: [&str; 15] = [
    "Foods",
    "Textiles",
    "Logistics",
    "Instruments",
    "Outfitters",
    "Ceramics",
    "Bakeries",
    "Pharmacy",
    "Timber",
    "Optics",
    "Bicycles",
    "Printworks",
    "Nurseries",
    "Hardware",
    "Books",
];
const GIVEN: [&str; 40] = [
    "Amara", "Beatriz", "Caleb", "Dilnoza", "Elif", "Farid", "Greta", "Hiro", "Ingrid", "Jonas", "Keiko",
    "Lukas", "Maren", "Nadia", "Oskar", "Priya", "Quentin", "Rosa", "Samir", "Tomas", "Ulla", "Viktor",
    "Wanda", "Ximena", "Yusuf", "Zofia", "Arun", "Bianca", "Chidi", "Daphne", "Emil", "Fatou", "Gideon",
    "Hanna", "Imran", "Jelena", "Kofi", "Leila", "Mateo", "Noor",
];
const FAMILY: [&str; 48] = [
    "Abara",
    "Bergman",
    "Castellan",
    "Dvorsky",
    "Eriksen",
    "Fontaine",
    "Grover",
    "Halvorsen",
    "Ibarra",
    "Jansky",
    "Kowalik",
    "Lindqvist",
    "Moreau",
    "Nakada",
    "Okoro",
    "Petrov",
    "Quist",
    "Rahimi",
    "Santoro",
    "Tanaka",
    "Ueland",
    "Varga",
    "Whitlock",
    "Xavier",
    "Yilmaz",
    "Zeman",
    "Ashdown",
    "Bellamy",
    "Corrigan",
    "Duarte",
    "Engel",
    "Falk",
    "Garnier",
    "Hofer",
    "Iversen",
    "Joshi",
    "Keller",
    "Lombardi",
    "Mbeki",
    "Novak",
    "Oduya",
    "Park",
    "Reyes",
    "Sorensen",
    "Toth",
    "Urbina",
    "Vance",
    "Weiss",
];

/// The name of company `n`, from 1 to [`COMPANIES`]. No name is part of another.
pub fn company_name(n: u64) -> String {
    // 77 and 300 share no factor: each pair comes once, and neighbours are not alike.
    let place = (n.wrapping_sub(1) % COMPANIES) * 77 % COMPANIES;
    format!("{} {}", FIRST[(place % 20) as usize], SECOND[(place / 20) as usize])
}

/// The id of company `n`.
pub fn account_id(n: u64) -> String {
    format!("ACC-{n:04}")
}

/// A person's name for place `n` of the stream `seed`.
pub fn person(seed: u64, n: u64) -> String {
    format!("{} {}", noise::pick(GIVEN, seed, n, 1), noise::pick(FAMILY, seed, n, 2))
}

/// An address that can never reach anyone: `example.com` belongs to nobody.
pub fn email(name: &str, n: u64) -> String {
    format!("{}.{n}@example.com", name.to_lowercase().replace(' ', "."))
}

/// A number that can never reach anyone: 555-0100 to 555-0199 are kept for fiction.
pub fn phone(seed: u64, n: u64) -> String {
    format!("+1-{}-555-01{:02}", 201 + noise::below(seed, n, 3, 700), noise::below(seed, n, 4, 100))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_company_name_is_part_of_another() {
        let names: Vec<String> = (1..=COMPANIES).map(company_name).collect();
        for (i, one) in names.iter().enumerate() {
            for (j, other) in names.iter().enumerate() {
                assert!(i == j || !one.contains(other.as_str()), "{one} and {other}");
            }
        }
    }
}
