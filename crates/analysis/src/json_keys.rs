//! Keys looked for in JSON text.

use crate::bounds::COLUMNS_MAX;
use crate::json_scanner::Scanner;
use crate::outcome::Problem;

/// Whether the first item of a list is an object with this key.
pub(crate) fn list_has_key(list: &str, key: &str) -> bool {
    let mut scanner = Scanner::new(list);
    let is_object = scanner.take(b'[') && scanner.take(b'{') && !scanner.take(b'}');
    is_object && find_key(&mut scanner, key, &mut Vec::new()).unwrap_or(false)
}

/// Goes on to the value of a key, inside of an object that has members; `keys` are those before it.
pub(crate) fn find_key(
    scanner: &mut Scanner<'_>,
    wanted: &str,
    keys: &mut Vec<String>,
) -> Result<bool, Problem> {
    loop {
        let key = scanner.key()?;
        if key == wanted {
            return Ok(true);
        }
        if keys.len() < COLUMNS_MAX {
            keys.push(key.into_owned());
        }
        scanner.skip(0)?;
        if !scanner.has_next(b'}')? {
            return Ok(false);
        }
    }
}
