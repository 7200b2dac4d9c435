//! The little of the protocol buffers' encoding that spans and metrics take.

/// One message under construction.
#[derive(Default)]
pub(super) struct Message(Vec<u8>);

const VARINT: u64 = 0;
const FIXED_64: u64 = 1;
const LENGTH: u64 = 2;

impl Message {
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    pub fn varint(mut self, field: u64, value: u64) -> Self {
        self.put(field << 3 | VARINT);
        self.put(value);
        self
    }

    pub fn fixed(mut self, field: u64, value: u64) -> Self {
        self.put(field << 3 | FIXED_64);
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.put(field << 3 | LENGTH);
        self.put(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    /// Numbers of eight bytes, one behind the other.
    pub fn packed(self, field: u64, values: impl Iterator<Item = u64>) -> Self {
        let bytes: Vec<u8> = values.flat_map(u64::to_le_bytes).collect();
        self.bytes(field, &bytes)
    }

    pub fn text(self, field: u64, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    pub fn message(self, field: u64, message: Self) -> Self {
        self.bytes(field, &message.0)
    }

    /// Seven bits at a time, the lowest first.
    fn put(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}
