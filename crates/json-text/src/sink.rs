//! Where the bytes of a value go that is passed over.

pub trait Sink {
    fn take(&mut self, bytes: &[u8]);
}

pub struct Discard;

impl Sink for Discard {
    fn take(&mut self, _bytes: &[u8]) {}
}

/// Keeps the bytes up to a bound; beyond it they are only counted.
pub struct Bounded {
    /// All that came, or nothing if that was too much.
    pub bytes: Vec<u8>,
    /// How many came, kept or not.
    pub seen: u64,
    bytes_max: usize,
}

impl Bounded {
    pub fn new(bytes_max: usize) -> Self {
        Self { bytes: Vec::new(), seen: 0, bytes_max }
    }

    /// Whether all that came was kept.
    pub fn is_whole(&self) -> bool {
        self.seen == self.bytes.len() as u64
    }
}

impl Sink for Bounded {
    fn take(&mut self, bytes: &[u8]) {
        self.seen += bytes.len() as u64;
        if self.seen <= self.bytes_max as u64 {
            self.bytes.extend_from_slice(bytes);
        } else {
            // It will not be used: the memory goes back at once.
            self.bytes = Vec::new();
        }
    }
}
