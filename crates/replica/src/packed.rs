//! Values as bytes: a format, then what postcard writes, compressed. Never more than fits the memory of a machine.

use std::io::Read;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Later versions that write otherwise are told by it.
const FORMAT: u8 = 1;

/// Before compression: a large transaction, or the names of a million files.
pub const PLAIN_BYTES_MAX: u64 = 512 << 20;

/// Fast: it stands between a program and its answer.
const COMPRESSION_LEVEL: i32 = 1;

/// A value that was not written or read. Nothing of it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PackError {
    #[error(
        "it was written by another version of gristmill (format {format}); run the same version on all machines"
    )]
    OtherVersion { format: u8 },
    #[error("it holds more than {bytes_max} bytes")]
    TooLarge { bytes_max: u64 },
    #[error("it is damaged")]
    Damaged,
}

pub(crate) fn pack(value: &impl Serialize) -> Result<Vec<u8>, PackError> {
    let plain = postcard::to_stdvec(value).map_err(|_| PackError::Damaged)?;
    if plain.len() as u64 > PLAIN_BYTES_MAX {
        return Err(PackError::TooLarge { bytes_max: PLAIN_BYTES_MAX });
    }
    let mut packed = vec![FORMAT];
    packed.extend(zstd::bulk::compress(&plain, COMPRESSION_LEVEL).map_err(|_| PackError::Damaged)?);
    Ok(packed)
}

pub(crate) fn unpack<T: DeserializeOwned>(packed: &[u8]) -> Result<T, PackError> {
    let compressed = after_format(packed)?;
    let reader = zstd::stream::read::Decoder::new(compressed).map_err(|_| PackError::Damaged)?;
    let mut plain = Vec::new();
    reader.take(PLAIN_BYTES_MAX + 1).read_to_end(&mut plain).map_err(|_| PackError::Damaged)?;
    if plain.len() as u64 > PLAIN_BYTES_MAX {
        return Err(PackError::TooLarge { bytes_max: PLAIN_BYTES_MAX });
    }
    whole(&plain)
}

/// Without compression.
pub(crate) fn write(value: &impl Serialize) -> Result<Vec<u8>, PackError> {
    postcard::to_extend(value, vec![FORMAT]).map_err(|_| PackError::Damaged)
}

pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, PackError> {
    whole(after_format(bytes)?)
}

fn after_format(bytes: &[u8]) -> Result<&[u8], PackError> {
    match bytes.split_first() {
        None => Err(PackError::Damaged),
        Some((&FORMAT, rest)) => Ok(rest),
        Some((&format, _)) => Err(PackError::OtherVersion { format }),
    }
}

fn whole<T: DeserializeOwned>(plain: &[u8]) -> Result<T, PackError> {
    match postcard::take_from_bytes(plain) {
        Ok((value, [])) => Ok(value),
        Ok(_) | Err(_) => Err(PackError::Damaged),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_message_that_grows_beyond_all_bounds_is_refused() {
        let bomb = zstd::bulk::compress(&vec![0; (PLAIN_BYTES_MAX + 1) as usize], 1).expect("compressed");
        let packed = [&[FORMAT][..], &bomb].concat();
        assert!(packed.len() < 1 << 20);
        let refused = unpack::<Vec<u8>>(&packed).expect_err("too large");
        assert_eq!(refused, PackError::TooLarge { bytes_max: PLAIN_BYTES_MAX });
    }

    #[test]
    fn what_stands_behind_a_value_is_damage() {
        let plain = postcard::to_stdvec(&(7_u32, "seven")).expect("written");
        assert_eq!(whole::<(u32, String)>(&plain), Ok((7, "seven".to_owned())));
        assert_eq!(whole::<(u32, String)>(&[&plain[..], b"x"].concat()), Err(PackError::Damaged));
        assert_eq!(unpack::<u32>(&[]), Err(PackError::Damaged));
        assert_eq!(unpack::<u32>(&[2, 0]), Err(PackError::OtherVersion { format: 2 }));
    }
}
