//! Whether an object is about a person: `{"name": "Ada Lovelace", "email": "…"}`.

/// Longer names of fields say nothing here.
const KEY_BYTES_MAX: usize = 40;

/// How fields end that a person has.
const OF_PEOPLE: &[&str] = &[
    "email",
    "emails",
    "emailaddress",
    "mail",
    "phone",
    "phones",
    "phonenumber",
    "telephone",
    "mobile",
    "cellphone",
    "homeaddress",
    "postaladdress",
    "mailingaddress",
    "birthday",
    "birthdate",
    "dateofbirth",
    "dob",
    "gender",
    "jobtitle",
];

/// Whole names of fields that people and places have.
const OF_SOME_PEOPLE: &[&str] = &["address", "street", "addresses"];

/// Whole names of fields that things, places and companies have, and people don't.
const OF_THINGS: &[&str] = &[
    "amenities",
    "barcode",
    "brand",
    "capacity",
    "coordinates",
    "cuisine",
    "currency",
    "employees",
    "hours",
    "industry",
    "latitude",
    "manufacturer",
    "openinghours",
    "price",
    "quantity",
    "rating",
    "repository",
    "revenue",
    "sku",
    "stock",
    "unitprice",
    "vatid",
    "version",
];

/// Whether a field is called `name` and nothing else. There are few ways to write it, so an object is looked at
/// few times.
pub fn is_bare_name(key: &str) -> bool {
    ["name", "displayName", "display_name"].iter().any(|name| key.eq_ignore_ascii_case(name))
}

/// Whether these are the fields of a person.
pub fn is_person<'k>(keys: impl Iterator<Item = &'k str>) -> bool {
    let mut is_person = false;
    for key in keys.filter(|key| key.len() <= KEY_BYTES_MAX) {
        let letters = |letter: &char| letter.is_ascii_alphanumeric();
        let key: String = key.chars().filter(letters).map(|letter| letter.to_ascii_lowercase()).collect();
        if OF_THINGS.contains(&key.as_str()) {
            return false;
        }
        is_person |= OF_SOME_PEOPLE.contains(&key.as_str()) || OF_PEOPLE.iter().any(|end| key.ends_with(end));
    }
    is_person
}
