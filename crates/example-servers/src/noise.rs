//! Numbers that look random and are always the same.

/// A well-mixed number for a place (`a`, `b`) in the stream `seed`.
pub fn at(seed: u64, a: u64, b: u64) -> u64 {
    let mut x = seed
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .wrapping_add(a.wrapping_mul(0xD1B5_4A32_D192_ED03))
        .wrapping_add(b.wrapping_mul(0x8CB9_2BA7_2F3D_8DD7));
    x = (x ^ (x >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    x = (x ^ (x >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    x ^ (x >> 32)
}

/// From 0 up to, without, `end`; 0 if `end` is 0.
pub fn below(seed: u64, a: u64, b: u64, end: u64) -> u64 {
    at(seed, a, b).checked_rem(end).unwrap_or_default()
}

/// From 0 up to, without, 1.
pub fn unit(seed: u64, a: u64, b: u64) -> f64 {
    (at(seed, a, b) >> 11) as f64 / (1u64 << 53) as f64
}

/// One of the choices.
pub fn pick<T: Copy, const N: usize>(choices: [T; N], seed: u64, a: u64, b: u64) -> T {
    const { assert!(N > 0) };
    choices[below(seed, a, b, N as u64) as usize]
}
