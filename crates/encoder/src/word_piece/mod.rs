//! Text to tokens, as BERT's uncased models were taught to read: without accents and case, punctuation and
//! Chinese characters on their own, unknown words as the longest known pieces.
//!
//! One thing is different: names of marks such as `[SEP]` in a text are text.

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::UnicodeNormalization;

use crate::format::TOKENS_MAX;
use crate::vocabulary::Vocabulary;

const UNKNOWN: u16 = 100;
const BEGIN: u16 = 101;
const END: u16 = 102;

/// What is read of a text at most.
const TEXT_BYTES_MAX: usize = 8 * 1024;

/// A longer word is unknown.
const WORD_CHARACTERS_MAX: usize = 100;

/// The tokens of a text, with those that begin and end it: from 2 to [`TOKENS_MAX`].
pub fn tokens(text: &str, vocabulary: &Vocabulary) -> Vec<u16> {
    let mut tokens = vec![BEGIN];
    let mut word = String::new();
    for character in normal(&text[..text.floor_char_boundary(TEXT_BYTES_MAX)]) {
        let is_space = character.is_whitespace();
        let is_alone = is_punctuation(character);
        if !is_space && !is_alone {
            word.push(character);
            continue;
        }
        push_word(&mut word, vocabulary, &mut tokens);
        if is_alone {
            word.push(character);
            push_word(&mut word, vocabulary, &mut tokens);
        }
        if tokens.len() >= TOKENS_MAX {
            break;
        }
    }
    push_word(&mut word, vocabulary, &mut tokens);
    tokens.truncate(TOKENS_MAX - 1);
    tokens.push(END);
    tokens
}

/// Adds the pieces of a word, and empties it.
fn push_word(word: &mut String, vocabulary: &Vocabulary, tokens: &mut Vec<u16>) {
    let before = tokens.len();
    let mut rest = match word.chars().nth(WORD_CHARACTERS_MAX) {
        None => word.as_str(),
        Some(_) => {
            tokens.push(UNKNOWN);
            ""
        }
    };
    while !rest.is_empty() {
        let is_inside = rest.len() < word.len();
        let Some((token, bytes)) = longest_piece(rest, is_inside, vocabulary) else {
            tokens.truncate(before);
            tokens.push(UNKNOWN);
            break;
        };
        tokens.push(token);
        rest = &rest[bytes..];
    }
    word.clear();
}

/// The longest piece that `text` begins with, and its length.
fn longest_piece(text: &str, is_inside: bool, vocabulary: &Vocabulary) -> Option<(u16, usize)> {
    let mut end = text.floor_char_boundary(vocabulary.bytes_max());
    while end > 0 {
        if let Some(token) = vocabulary.token(&text[..end], is_inside) {
            return Some((token, end));
        }
        end = text.floor_char_boundary(end - 1);
    }
    None
}

/// Without controls, accents and case; white space as spaces, and spaces around Chinese characters.
fn normal(text: &str) -> impl Iterator<Item = char> {
    text.chars()
        .filter(|character| !is_control(*character))
        .flat_map(|character| {
            let space = is_chinese(character).then_some(' ');
            space.into_iter().chain([character]).chain(space)
        })
        .nfd()
        .filter(|character| {
            character.is_ascii() || get_general_category(*character) != GeneralCategory::NonspacingMark
        })
        .flat_map(char::to_lowercase)
}

fn is_control(character: char) -> bool {
    match character {
        '\t' | '\n' | '\r' => false,
        ' '..='~' => false,
        '\u{fffd}' => true,
        _ => matches!(
            get_general_category(character),
            GeneralCategory::Control | GeneralCategory::Format | GeneralCategory::PrivateUse
        ),
    }
}

fn is_punctuation(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_punctuation();
    }
    matches!(
        get_general_category(character),
        GeneralCategory::ClosePunctuation
            | GeneralCategory::ConnectorPunctuation
            | GeneralCategory::DashPunctuation
            | GeneralCategory::FinalPunctuation
            | GeneralCategory::InitialPunctuation
            | GeneralCategory::OpenPunctuation
            | GeneralCategory::OtherPunctuation
    )
}

/// The blocks of ideographs, without those of kana and Hangul.
fn is_chinese(character: char) -> bool {
    matches!(
        character,
        '\u{4e00}'..='\u{9fff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{20000}'..='\u{2a6df}'
            | '\u{2a700}'..='\u{2b73f}'
            | '\u{2b740}'..='\u{2b81f}'
            | '\u{2b920}'..='\u{2ceaf}'
            | '\u{f900}'..='\u{faff}'
            | '\u{2f800}'..='\u{2fa1f}'
    )
}

#[cfg(test)]
mod tests;
