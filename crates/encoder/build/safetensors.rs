//! Finds tensors by name in a `safetensors` file: a header in JSON with their places, then their numbers.
//!
//! It reads the one file whose hash is pinned, so the header is searched as text and not parsed.

pub struct Tensors<'a> {
    header: &'a str,
    numbers: &'a [u8],
}

impl<'a> Tensors<'a> {
    pub fn read(file: &'a [u8]) -> Result<Self, String> {
        let (length, rest) = file.split_first_chunk().ok_or("the weights' file is empty")?;
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|error| error.to_string())?;
        let (header, numbers) = rest.split_at_checked(length).ok_or("the weights' header is cut off")?;
        Ok(Self { header: str::from_utf8(header).map_err(|error| error.to_string())?, numbers })
    }

    /// The numbers of a tensor of `f32`, which must be `count`.
    pub fn tensor(&self, name: &str, count: usize) -> Result<Vec<f32>, String> {
        let bytes = self.place(name).ok_or_else(|| format!("the weights have no {name}"))?;
        if bytes.len() != count * 4 {
            return Err(format!("{name} has {} bytes instead of {}", bytes.len(), count * 4));
        }
        Ok(bytes.as_chunks().0.iter().map(|number| f32::from_le_bytes(*number)).collect())
    }

    fn place(&self, name: &str) -> Option<&'a [u8]> {
        let (_, entry) = self.header.split_once(&format!("\"{name}\":{{\"dtype\":\"F32\""))?;
        let (_, offsets) = entry.split_once("\"data_offsets\":[")?;
        let (from, to) = offsets.split_once(']')?.0.split_once(',')?;
        self.numbers.get(from.trim().parse().ok()?..to.trim().parse().ok()?)
    }
}
