//! Every kernel gives the numbers of the portable one.

use super::{Kernel, Portable, Products, ROWS};
use crate::format::{ACTIVATION_MAX, GROUP};

/// Numbers that look random, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn up_to(&mut self, limit: i16, count: usize) -> Vec<i16> {
        let range = 2 * limit as u64 + 1;
        (0..count).map(|_| (self.next() % range) as i16 - limit).collect()
    }
}

fn check_products<const TOKENS: usize>(products: impl Products) {
    let mut numbers = Numbers(TOKENS as u64);
    for columns in [32, 64, 384, 1536] {
        for (weight_max, activation_max) in [(3, 3), (127, ACTIVATION_MAX), (600, ACTIVATION_MAX)] {
            let rows: [Vec<i16>; ROWS] = std::array::from_fn(|_| numbers.up_to(weight_max, columns));
            let tokens: [Vec<i16>; TOKENS] = std::array::from_fn(|_| numbers.up_to(activation_max, columns));
            let rows = rows.each_ref().map(Vec::as_slice);
            let tokens = tokens.each_ref().map(Vec::as_slice);
            assert_eq!(
                products.sums(rows, tokens),
                Portable.sums(rows, tokens),
                "{TOKENS} tokens, {columns}"
            );
        }
    }
    // The largest sums that packing permits, of both signs.
    let (row, opposite) = (vec![1366; 1536], vec![-1366; 1536]);
    let token = vec![ACTIVATION_MAX; 1536];
    let sums = products.sums([&row, &opposite], [token.as_slice(); TOKENS]);
    assert_eq!(sums, [[2_146_434_048_i32; TOKENS], [-2_146_434_048; TOKENS]]);
}

fn check_scales(products: impl Products) {
    let weights: [i8; GROUP] = std::array::from_fn(|at| at as i8 * 2 - 32);
    let scales = [-127, -1, 0, 1, 5, 127];
    let mut scaled = [[7; GROUP]; 6];
    products.scale(&[weights; 6], &scales, &mut scaled);
    let expected = scales.map(|scale| weights.map(|weight| i16::from(weight) * i16::from(scale)));
    assert_eq!(scaled, expected);
}

fn check_all_products(products: impl Products) {
    check_scales(products);
    check_products::<1>(products);
    check_products::<2>(products);
    check_products::<3>(products);
    check_products::<4>(products);
}

#[test]
fn the_portable_kernel_multiplies_and_adds() {
    let numbers = |some: [i16; 3]| {
        let mut numbers = [0; 32];
        numbers[..3].copy_from_slice(&some);
        numbers
    };
    let rows = [numbers([1, 2, 3]), numbers([-1, 0, 10])];
    let tokens = [numbers([1, 1, 1]), numbers([100, 10, 1])];
    let sums = Portable.sums([&rows[0], &rows[1]], [&tokens[0], &tokens[1]]);
    assert_eq!(sums, [[6, 123], [9, -90]]);
    assert_eq!(Portable.sums([&[1; 64], &[-2; 64]], [&[3; 64]]), [[192], [-384]]);
    check_all_products(Portable);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn avx2_gives_the_numbers_of_the_portable_kernel() {
    match super::avx2::Avx2::detect() {
        Some(avx2) => check_all_products(avx2),
        None => eprintln!("NOT CHECKED: this processor has no AVX2"),
    }
}

#[cfg(target_arch = "aarch64")]
#[test]
fn neon_gives_the_numbers_of_the_portable_kernel() {
    match super::neon::Neon::detect() {
        Some(neon) => check_all_products(neon),
        None => eprintln!("NOT CHECKED: this processor has no NEON"),
    }
}

#[test]
fn the_whole_way_gives_the_same_vectors_to_the_last_bit() {
    let Some((_, weights)) = crate::PACKED.and_then(crate::weights::read) else {
        eprintln!("NOT CHECKED: built without the encoder's weights");
        return;
    };
    let mut numbers = Numbers(7);
    for count in [2, 3, 9, 16, 30, 128] {
        let tokens: Vec<u16> = (0..count).map(|_| (numbers.next() % 30_522) as u16).collect();
        let best = Kernel::best().run(&weights, &tokens);
        let portable = Kernel::portable().run(&weights, &tokens);
        let bits = |rows: Vec<f32>| rows.into_iter().map(f32::to_bits).collect::<Vec<_>>();
        assert_eq!(bits(best), bits(portable), "{count} tokens");
    }
}
