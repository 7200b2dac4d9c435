//! Which number belongs to which country: length, check, and the ways of writing that tell by themselves.

use std::sync::LazyLock;

use super::countries as of;
use crate::digits::{HEADS as SHAPE_HEADS, Separator, Shape};
use crate::kind::Kind;
use crate::topic::Topic;

/// One format of digits.
pub struct NumberRule {
    pub rule: &'static str,
    pub kind: Kind,
    pub length: usize,
    pub topic: Topic,
    /// How sure it is after a word for it, however it is written.
    pub in_context: u8,
    /// Ways of writing that need no word, and how sure they are.
    pub shapes: &'static [(&'static str, u8)],
    pub check: fn(&[u8]) -> bool,
}

impl NumberRule {
    /// Whether this is a way of writing it.
    pub fn is_written(&self, shape: Shape) -> bool {
        self.shapes.iter().any(|(written, _)| Shape::of(written) == shape)
    }
}

const fn id(
    rule: &'static str,
    length: usize,
    topic: Topic,
    shapes: &'static [(&'static str, u8)],
    check: fn(&[u8]) -> bool,
) -> NumberRule {
    NumberRule { rule, kind: Kind::NationalId, length, topic, in_context: 88, shapes, check }
}

static RULES: [NumberRule; 35] = [
    NumberRule {
        rule: "us-ssn",
        kind: Kind::Ssn,
        length: 9,
        topic: Topic::Ssn,
        in_context: 92,
        shapes: &[("999-99-9999", 85), ("999 99 9999", 60), ("999.99.9999", 55)],
        check: of::us_ssn,
    },
    id("us-itin", 9, Topic::Itin, &[("999-99-9999", 85), ("999 99 9999", 60)], of::us_itin),
    NumberRule {
        rule: "us-routing",
        kind: Kind::BankAccount,
        length: 9,
        topic: Topic::Routing,
        in_context: 85,
        shapes: &[],
        check: of::us_routing,
    },
    id("ca-sin", 9, Topic::Canadian, &[("999-999-999", 65), ("999 999 999", 45)], of::canadian_sin),
    id("nl-bsn", 9, Topic::Dutch, &[("9999.99.999", 55)], of::dutch_bsn),
    id("pt-nif", 9, Topic::Portuguese, &[], of::portuguese_nif),
    id("au-tfn", 9, Topic::Australian, &[], of::australian_tfn),
    id("il-id", 9, Topic::Israeli, &[], of::israeli_id),
    id("uk-nhs", 10, Topic::UkNhs, &[("999 999 9999", 55), ("999-999-9999", 45)], of::uk_nhs),
    id("at-svnr", 10, Topic::Austrian, &[("9999 999999", 60), ("9999-999999", 55)], of::austrian_svnr),
    id("se-personnummer", 10, Topic::Swedish, &[("999999-9999", 80)], of::swedish_number),
    id("dk-cpr", 10, Topic::Danish, &[("999999-9999", 50)], of::danish_cpr),
    id("cz-rodne-cislo", 10, Topic::Czech, &[("999999/9999", 85)], of::czech_number),
    id("bg-egn", 10, Topic::Bulgarian, &[], of::bulgarian_egn),
    id(
        "au-medicare",
        10,
        Topic::Australian,
        &[("9999 99999 9", 80), ("9999-99999-9", 75)],
        of::australian_medicare,
    ),
    id("au-medicare", 11, Topic::Australian, &[("9999 99999 9 9", 75)], of::australian_medicare),
    id("br-cpf", 11, Topic::Brazilian, &[("999.999.999-99", 95), ("999999999-99", 75)], of::brazilian_cpf),
    id("de-tax-id", 11, Topic::German, &[("99 999 999 999", 75)], of::german_tax_id),
    id("pl-pesel", 11, Topic::Polish, &[], of::polish_pesel),
    id(
        "no-fodselsnummer",
        11,
        Topic::Norwegian,
        &[("999999 99999", 85), ("999999-99999", 85), ("99999999999", 55)],
        of::norwegian_number,
    ),
    id(
        "be-national-number",
        11,
        Topic::Belgian,
        &[("99.99.99-999.99", 95), ("999999-999-99", 80), ("999999 999 99", 75)],
        of::belgian_number,
    ),
    id("ee-lt-code", 11, Topic::Baltic, &[], of::baltic_code),
    id("tr-kimlik", 11, Topic::Turkish, &[], of::turkish_number),
    id("hr-oib", 11, Topic::Croatian, &[], of::croatian_oib),
    id(
        "in-aadhaar",
        12,
        Topic::Indian,
        &[("9999 9999 9999", 80), ("9999-9999-9999", 75)],
        of::indian_aadhaar,
    ),
    id(
        "se-personnummer",
        12,
        Topic::Swedish,
        &[("99999999-9999", 85), ("999999999999", 50)],
        of::swedish_number_with_century,
    ),
    id("jp-my-number", 12, Topic::Japanese, &[("9999 9999 9999", 55)], of::japanese_number),
    id("ch-ahv", 13, Topic::Swiss, &[("999.9999.9999.99", 97), ("9999999999999", 70)], of::swiss_ahv),
    id("ro-cnp", 13, Topic::Romanian, &[("9999999999999", 55)], of::romanian_cnp),
    id(
        "za-id",
        13,
        Topic::SouthAfrican,
        &[("999999 9999 999", 85), ("999999 9999 99 9", 85), ("9999999999999", 50)],
        of::south_african_id,
    ),
    id("kr-rrn", 13, Topic::Korean, &[("999999-9999999", 92)], of::korean_number),
    id("th-id", 13, Topic::Thai, &[("9-9999-99999-99-9", 95), ("9 9999 99999 99 9", 90)], of::thai_id),
    id(
        "fr-nir",
        15,
        Topic::French,
        &[("9 99 99 99 999 999 99", 97), ("9999999999999 99", 80), ("999999999999999", 75)],
        of::french_nir,
    ),
    id("cn-id", 18, Topic::Chinese, &[("999999999999999999", 85)], of::chinese_id),
    NumberRule {
        rule: "uk-sort-code",
        kind: Kind::BankAccount,
        length: 6,
        topic: Topic::SortCode,
        in_context: 80,
        shapes: &[],
        check: |_| true,
    },
];

/// The rules that a way of writing tells by itself, by shape.
static BY_SHAPE: LazyLock<Vec<(Shape, usize, u8)>> = LazyLock::new(|| {
    let each = |(at, rule): (usize, &NumberRule)| {
        rule.shapes
            .iter()
            .map(move |(written, confidence)| (Shape::of(written), at, *confidence))
            .collect::<Vec<_>>()
    };
    let mut by_shape: Vec<_> = RULES.iter().enumerate().flat_map(each).collect();
    by_shape.sort_by_key(|(shape, ..)| *shape);
    by_shape
});

/// How numbers start that are told by the way they are written: those above, cards, and North American
/// phone numbers. A bit for each head of a shape.
static HEADS: LazyLock<[u64; SHAPE_HEADS / 64]> = LazyLock::new(|| {
    let mut heads = [0_u64; SHAPE_HEADS / 64];
    let mut add = |shape: Shape| heads[shape.head() / 64] |= 1 << (shape.head() % 64);
    BY_SHAPE.iter().for_each(|(shape, ..)| add(*shape));
    for (first, second) in [(4, 4), (4, 6), (4, 5), (3, 3), (1, 3)] {
        for separator in
            [Separator::Space, Separator::Hyphen, Separator::Dot, Separator::Slash, Separator::Mixed]
        {
            add(Shape::default().with(Separator::None, first).with(separator, second));
        }
    }
    heads
});

/// Whether a number that starts like this can be told without a word for it.
pub fn is_told_by(head: Shape) -> bool {
    HEADS[head.head() / 64] >> (head.head() % 64) & 1 == 1
}

/// The rules that a number written like this fits, and how sure they are.
pub fn of_shape(shape: Shape) -> impl Iterator<Item = (&'static NumberRule, u8)> {
    let start = BY_SHAPE.partition_point(|(other, ..)| *other < shape);
    let fitting = BY_SHAPE[start..].iter().take_while(move |(other, ..)| *other == shape);
    fitting.map(|(_, at, confidence)| (&RULES[*at], *confidence))
}

/// The rules for numbers of a length, as the table has them: shorter ones first in each part.
pub fn of_length(length: usize) -> impl Iterator<Item = &'static NumberRule> {
    RULES.iter().filter(move |rule| rule.length == length)
}
