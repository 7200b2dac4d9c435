//! A direction, in 8 bits for each dimension.

use crate::DIMENSIONS;

/// A unit vector in 8 bits for each dimension.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Vector([i8; DIMENSIONS]);

impl Vector {
    /// The direction of these numbers, the largest of which takes the whole range.
    pub(crate) fn of(numbers: &[f32; DIMENSIONS]) -> Self {
        let largest = numbers.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
        let scale = if largest > 0.0 { 127.0 / largest } else { 0.0 };
        Self(numbers.map(|number| (number * scale).round() as i8))
    }

    pub fn as_bytes(&self) -> [u8; DIMENSIONS] {
        self.0.map(i8::cast_unsigned)
    }

    /// Any bytes are a vector; which texts they are for, their keeper must know.
    pub fn from_bytes(bytes: &[u8; DIMENSIONS]) -> Self {
        Self(bytes.map(u8::cast_signed))
    }

    /// How much both point the same way, from -1 to 1. A vector of zeros points nowhere: 0.
    pub fn cosine(&self, other: &Self) -> f32 {
        self.products(other).cosine(self.products(self), other.products(other))
    }

    /// The sum of the products of both's numbers: of a vector with itself, the square of its length.
    pub(crate) fn products(&self, other: &Self) -> Products {
        Products(products(&self.0.map(i16::from), &other.0.map(i16::from)))
    }
}

/// A sum of products.
#[derive(Clone, Copy)]
pub(crate) struct Products(i32);

impl Products {
    /// The cosine of two vectors with this sum, of which each alone has those.
    pub fn cosine(self, ours: Self, theirs: Self) -> f32 {
        if ours.0 == 0 || theirs.0 == 0 {
            return 0.0;
        }
        let cosine = f64::from(self.0) / (f64::from(ours.0) * f64::from(theirs.0)).sqrt();
        cosine as f32
    }
}

/// Of 16 bits: for sums of such products compilers know an instruction.
fn products(one: &[i16; DIMENSIONS], other: &[i16; DIMENSIONS]) -> i32 {
    one.iter().zip(other).map(|(one, other)| i32::from(*one) * i32::from(*other)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(numbers: impl Fn(usize) -> f32) -> Vector {
        Vector::of(&std::array::from_fn(numbers))
    }

    #[test]
    fn the_cosine_is_that_of_the_numbers() {
        let one = vector(|at| (at as f32).sin());
        let opposite = vector(|at| -(at as f32).sin() * 20.0);
        let across = vector(|at| (at as f32).cos());
        assert!((one.cosine(&one) - 1.0).abs() < 1e-6);
        assert!((one.cosine(&opposite) + 1.0).abs() < 1e-6);
        assert!(one.cosine(&across).abs() < 0.01, "{}", one.cosine(&across));
    }

    #[test]
    fn a_vector_survives_its_bytes() {
        let one = vector(|at| at as f32 - 200.0);
        assert_eq!(Vector::from_bytes(&one.as_bytes()), one);
    }

    #[test]
    fn the_largest_numbers_do_not_overflow() {
        let lowest = Vector::from_bytes(&[0x80; DIMENSIONS]);
        assert_eq!(lowest.cosine(&lowest), 1.0);
    }

    #[test]
    fn zeros_point_nowhere() {
        let zeros = Vector::from_bytes(&[0; DIMENSIONS]);
        assert_eq!(zeros.cosine(&vector(|at| at as f32)), 0.0);
        assert_eq!(zeros, vector(|_| 0.0));
    }
}
