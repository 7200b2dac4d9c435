//! The exact cap on an engine's memory: every `memory.grow` asks here.

use wasmtime::ResourceLimiter;

#[derive(Debug)]
pub struct MemoryCap {
    bytes_max: usize,
    bytes_peak: usize,
    refused: bool,
}

impl MemoryCap {
    /// No cap yet: the zygote's warm-up runs before any program's limits are known.
    pub fn unlimited() -> Self {
        Self { bytes_max: usize::MAX, bytes_peak: 0, refused: false }
    }

    /// Sets the cap for one program. Memory that is there already stays, and counts.
    pub fn set(&mut self, bytes_max: u64) {
        self.bytes_max = usize::try_from(bytes_max).unwrap_or(usize::MAX);
        self.refused = false;
    }

    /// The most that was in use.
    pub fn bytes_peak(&self) -> usize {
        self.bytes_peak
    }

    /// Whether the cap refused anything.
    pub fn refused(&self) -> bool {
        self.refused
    }
}

impl ResourceLimiter for MemoryCap {
    fn memory_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let granted = desired <= self.bytes_max;
        match granted {
            true => self.bytes_peak = self.bytes_peak.max(desired),
            false => self.refused = true,
        }
        Ok(granted)
    }

    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        // Function tables; CPython's has some 20,000 entries and does not grow.
        Ok(desired <= 200_000)
    }
}
