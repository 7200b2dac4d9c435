//! PNG files with four colors, two bits for each pixel, not compressed: small enough for a chart
//! and no decoder has trouble with it.

/// Palette places 0 to 3, row by row.
pub struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Canvas {
    /// All of color 0.
    pub fn new(width: usize, height: usize) -> Self {
        Self { width, height, pixels: vec![0; width * height] }
    }

    /// Colors one pixel; outside of the canvas nothing happens.
    pub fn dot(&mut self, x: i64, y: i64, color: u8) {
        if let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y))
            && x < self.width
            && y < self.height
        {
            self.pixels[y * self.width + x] = color & 3;
        }
    }

    pub fn encode(&self, palette: [[u8; 3]; 4]) -> Vec<u8> {
        let mut header = Vec::new();
        header.extend((self.width as u32).to_be_bytes());
        header.extend((self.height as u32).to_be_bytes());
        // Two bits, palette, and the only compression, filter and order that matter here.
        header.extend([2, 3, 0, 0, 0]);
        let mut rows = Vec::with_capacity(self.height * (self.width / 4 + 2));
        for row in self.pixels.chunks(self.width) {
            rows.push(0);
            rows.extend(row.chunks(4).map(|four| {
                four.iter().enumerate().fold(0, |byte, (place, color)| byte | color << (6 - 2 * place))
            }));
        }
        let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
        chunk(&mut file, b"IHDR", &header);
        chunk(&mut file, b"PLTE", palette.as_flattened());
        chunk(&mut file, b"IDAT", &stored(&rows));
        chunk(&mut file, b"IEND", &[]);
        file
    }
}

fn chunk(file: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    file.extend((data.len() as u32).to_be_bytes());
    let start = file.len();
    file.extend(kind);
    file.extend(data);
    let sum = crc32(&file[start..]);
    file.extend(sum.to_be_bytes());
}

/// A zlib stream whose blocks are stored as they are.
fn stored(data: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x78, 0x01];
    let mut blocks = data.chunks(0xFFFF).peekable();
    while let Some(block) = blocks.next() {
        let length = block.len() as u16;
        stream.push(u8::from(blocks.peek().is_none()));
        stream.extend(length.to_le_bytes());
        stream.extend((!length).to_le_bytes());
        stream.extend(block);
    }
    stream.extend(adler32(data).to_be_bytes());
    stream
}

fn crc32(data: &[u8]) -> u32 {
    !data.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ (0xEDB8_8320 & (sum & 1).wrapping_neg()))
    })
}

fn adler32(data: &[u8]) -> u32 {
    let (a, b) = data.iter().fold((1, 0), |(a, b), byte| {
        let a = (a + u32::from(*byte)) % 65_521;
        (a, (b + a) % 65_521)
    });
    b << 16 | a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sums_are_those_of_the_standards() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(adler32(b"Wikipedia"), 0x11E6_0398);
    }

    #[test]
    fn a_picture_has_its_parts_in_order() {
        let mut canvas = Canvas::new(5, 1);
        canvas.dot(0, 0, 3);
        canvas.dot(4, 0, 1);
        canvas.dot(5, 0, 1);
        canvas.dot(-1, 7, 1);
        let file = canvas.encode([[255; 3], [0; 3], [1; 3], [2; 3]]);
        assert_eq!(&file[..8], b"\x89PNG\r\n\x1a\n");
        assert_eq!(&file[12..29], b"IHDR\0\0\0\x05\0\0\0\x01\x02\x03\0\0\0");
        let data = file.windows(4).position(|four| four == b"IDAT").expect("pixels") + 4;
        assert_eq!(&file[data..data + 10], [0x78, 1, 1, 3, 0, 0xFC, 0xFF, 0, 0b1100_0000, 0b0100_0000]);
        assert_eq!(&file[file.len() - 12..], b"\0\0\0\0IEND\xAE\x42\x60\x82");
    }
}
