//! The national numbers that are digits alone. Each check is that of the country's own specification.

use crate::digits::checks::{ean_13, is_day, is_one_digit, luhn, mod_11_10, pair, value, verhoeff, weighted};

pub fn us_ssn(d: &[u8]) -> bool {
    let (area, group, serial) = (value(&d[..3]), value(&d[3..5]), value(&d[5..]));
    // Printed on a wallet insert and in a leaflet, and void since.
    let is_void = matches!(value(d), 78_051_120 | 219_099_999);
    area != 0 && area != 666 && area < 900 && group != 0 && serial != 0 && !is_void
}

pub fn us_itin(d: &[u8]) -> bool {
    d[0] == 9 && matches!(value(&d[3..5]), 50..=65 | 70..=88 | 90..=92 | 94..=99)
}

/// A bank's routing number, with the ranges that are assigned.
pub fn us_routing(d: &[u8]) -> bool {
    let sum = weighted(d, &[3, 7, 1, 3, 7, 1, 3, 7, 1]);
    sum.is_multiple_of(10) && matches!(value(&d[..2]), 1..=12 | 21..=32 | 61..=72 | 80)
}

pub fn canadian_sin(d: &[u8]) -> bool {
    d[0] != 8 && luhn(d)
}

pub fn brazilian_cpf(d: &[u8]) -> bool {
    let check = |length: usize| {
        let sum: u32 = (0..length).map(|at| u32::from(d[at]) * (length + 1 - at) as u32).sum();
        u32::from(d[length]) == sum * 10 % 11 % 10
    };
    !is_one_digit(d) && check(9) && check(10)
}

pub fn uk_nhs(d: &[u8]) -> bool {
    let check = 11 - weighted(d, &[10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11;
    !is_one_digit(d) && check % 11 == u32::from(d[9])
}

pub fn german_tax_id(d: &[u8]) -> bool {
    let times = |digit: u8| d[..10].iter().filter(|other| **other == digit).count();
    let most = (0..10).map(times).max().unwrap_or(0);
    let repeated = (0..10).filter(|digit| times(*digit) > 1).count();
    d[0] != 0 && repeated == 1 && matches!(most, 2 | 3) && mod_11_10(d)
}

pub fn french_nir(d: &[u8]) -> bool {
    let month = pair(d, 3);
    let is_month = matches!(month, 1..=12 | 20..=42 | 50..=99);
    matches!(d[0], 1 | 2 | 3 | 4 | 7 | 8) && is_month && 97 - value(&d[..13]) % 97 == value(&d[13..])
}

pub fn dutch_bsn(d: &[u8]) -> bool {
    let sum = weighted(&d[..8], &[9, 8, 7, 6, 5, 4, 3, 2]);
    !is_one_digit(d) && sum >= u32::from(d[8]) && (sum - u32::from(d[8])).is_multiple_of(11)
}

pub fn belgian_number(d: &[u8]) -> bool {
    let (serial, check) = (value(&d[..9]), value(&d[9..]));
    let is_date = pair(d, 2) % 20 <= 12 && pair(d, 4) <= 31;
    is_date && (97 - serial % 97 == check || 97 - (2_000_000_000 + serial) % 97 == check)
}

pub fn polish_pesel(d: &[u8]) -> bool {
    let sum = weighted(&d[..10], &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3]);
    is_day(pair(d, 4), pair(d, 2) % 20) && (10 - sum % 10) % 10 == u32::from(d[10])
}

/// Ten digits, or twelve with the century.
pub fn swedish_number(d: &[u8]) -> bool {
    let d = &d[d.len() - 10..];
    let day = pair(d, 4);
    is_day(if day > 60 { day - 60 } else { day }, pair(d, 2)) && luhn(d)
}

pub fn swedish_number_with_century(d: &[u8]) -> bool {
    matches!(pair(d, 0), 18..=20) && swedish_number(d)
}

pub fn norwegian_number(d: &[u8]) -> bool {
    let day = pair(d, 0);
    let check = |length: usize, weights: &[u32]| {
        (11 - weighted(&d[..length], weights) % 11) % 11 == u32::from(d[length])
    };
    is_day(if day > 40 { day - 40 } else { day }, pair(d, 2) % 40)
        && check(9, &[3, 7, 6, 1, 8, 9, 4, 5, 2])
        && check(10, &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2])
}

/// Numbers since 2007 have no check digit: the date is all there is.
pub fn danish_cpr(d: &[u8]) -> bool {
    is_day(pair(d, 0), pair(d, 2))
}

pub fn austrian_svnr(d: &[u8]) -> bool {
    let sum = weighted(d, &[3, 7, 9, 0, 5, 8, 4, 2, 1, 6]);
    d[0] != 0 && is_day(pair(d, 4), pair(d, 6)) && sum % 11 == u32::from(d[3])
}

pub fn swiss_ahv(d: &[u8]) -> bool {
    d.starts_with(&[7, 5, 6]) && ean_13(d)
}

pub fn portuguese_nif(d: &[u8]) -> bool {
    let check = 11 - weighted(&d[..8], &[9, 8, 7, 6, 5, 4, 3, 2]) % 11;
    matches!(d[0], 1 | 2 | 3 | 5 | 6 | 8 | 9) && u32::from(d[8]) == if check > 9 { 0 } else { check }
}

pub fn czech_number(d: &[u8]) -> bool {
    let month = pair(d, 2);
    is_day(pair(d, 4), month % 50 % 20) && value(d).is_multiple_of(11)
}

pub fn bulgarian_egn(d: &[u8]) -> bool {
    let sum = weighted(&d[..9], &[2, 4, 8, 5, 10, 9, 7, 3, 6]);
    is_day(pair(d, 4), pair(d, 2) % 20) && sum % 11 % 10 == u32::from(d[9])
}

pub fn romanian_cnp(d: &[u8]) -> bool {
    let sum = weighted(&d[..12], &[2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9]) % 11;
    let check = if sum == 10 { 1 } else { sum };
    let is_county = matches!(pair(d, 7), 1..=48 | 51 | 52 | 70);
    d[0] != 0 && is_county && is_day(pair(d, 5), pair(d, 3)) && check == u32::from(d[12])
}

pub fn croatian_oib(d: &[u8]) -> bool {
    mod_11_10(d)
}

/// Estonia and Lithuania.
pub fn baltic_code(d: &[u8]) -> bool {
    let first = weighted(&d[..10], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 1]) % 11;
    let second = weighted(&d[..10], &[3, 4, 5, 6, 7, 8, 9, 1, 2, 3]) % 11;
    let check = if first < 10 { first } else { second % 10 };
    matches!(d[0], 1..=8) && is_day(pair(d, 5), pair(d, 3)) && check == u32::from(d[10])
}

pub fn turkish_number(d: &[u8]) -> bool {
    let odd: u32 = d[..9].iter().step_by(2).map(|digit| u32::from(*digit)).sum();
    let even: u32 = d[1..8].iter().step_by(2).map(|digit| u32::from(*digit)).sum();
    let tenth = (odd * 7 + 100 - even) % 10;
    d[0] != 0 && tenth == u32::from(d[9]) && (odd + even + tenth) % 10 == u32::from(d[10])
}

pub fn israeli_id(d: &[u8]) -> bool {
    luhn(d)
}

pub fn south_african_id(d: &[u8]) -> bool {
    d[10] <= 2 && is_day(pair(d, 4), pair(d, 2)) && luhn(d)
}

pub fn indian_aadhaar(d: &[u8]) -> bool {
    d[0] > 1 && verhoeff(d) && !is_one_digit(d)
}

pub fn australian_tfn(d: &[u8]) -> bool {
    !is_one_digit(d) && weighted(d, &[1, 4, 3, 7, 5, 8, 6, 9, 10]).is_multiple_of(11)
}

/// Ten digits, the last of which says which issue of the card it is; eleven with the person's place on it.
pub fn australian_medicare(d: &[u8]) -> bool {
    let sum = weighted(&d[..8], &[1, 3, 7, 9, 1, 3, 7, 9]);
    matches!(d[0], 2..=6) && sum % 10 == u32::from(d[8]) && !is_one_digit(d)
}

pub fn korean_number(d: &[u8]) -> bool {
    let sum = weighted(&d[..12], &[2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]);
    is_day(pair(d, 4), pair(d, 2)) && (11 - sum % 11) % 10 == u32::from(d[12])
}

pub fn japanese_number(d: &[u8]) -> bool {
    let sum = weighted(&d[..11], &[6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
    u32::from(d[11]) == if sum <= 1 { 0 } else { 11 - sum }
}

pub fn thai_id(d: &[u8]) -> bool {
    let sum = weighted(&d[..12], &[13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
    d[0] != 0 && (11 - sum % 11) % 10 == u32::from(d[12])
}

/// Without the letter X, which is a tenth as likely.
pub fn chinese_id(d: &[u8]) -> bool {
    let digits = chinese_check(&d[..17]);
    chinese_start(d) && digits == Some(d[17])
}

pub fn chinese_start(d: &[u8]) -> bool {
    matches!(d[0], 1..=8) && matches!(pair(d, 6), 18..=20) && is_day(pair(d, 12), pair(d, 10))
}

/// The check digit of the first seventeen; none if it is X.
pub fn chinese_check(d: &[u8]) -> Option<u8> {
    let sum = weighted(d, &[7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]) % 11;
    [Some(1), Some(0), None, Some(9), Some(8), Some(7), Some(6), Some(5), Some(4), Some(3), Some(2)]
        [sum as usize]
}
