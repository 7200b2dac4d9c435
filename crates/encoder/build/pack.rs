//! Packs the weights: each matrix in few bits, in groups with a scale each, as `format.rs` describes it.
//!
//! Only additions, products, quotients and roundings of `f32` in a fixed order: the file is the same
//! wherever it is made.

use crate::adapter::{Adapter, MATRICES};
use crate::format::{self, GROUP, INNER, LAYERS, Shape, TOKENS_MAX, WIDTH, WORDS};
use crate::safetensors::Tensors;

/// How far beyond the largest weight of a group its range is tried to end: cutting off the largest a little
/// may serve the others better.
const REACHES: [f32; 7] = [0.75, 0.8125, 0.875, 0.9375, 1.0, 1.0625, 1.125];

/// The largest scale of a group.
const GROUP_SCALE_MAX: i8 = 127;

pub fn pack(weights: &[u8], vocabulary: &[u8], adapter: &[u8]) -> Result<Vec<u8>, String> {
    let words = vocabulary.split(|byte| *byte == b'\n').filter(|word| !word.is_empty()).count();
    if words != WORDS {
        return Err(format!("the vocabulary has {words} words instead of {WORDS}"));
    }
    let tensors = Tensors::read(weights)?;
    let adapter = Adapter::read(adapter)?;
    let mut packed = Packed { tensors, adapter, bytes: format::MAGIC.to_vec() };
    packed.bytes.extend(u32::try_from(vocabulary.len()).map_err(|error| error.to_string())?.to_le_bytes());
    packed.bytes.extend(vocabulary);
    packed.words()?;
    packed.positions()?;
    packed.norm("embeddings.LayerNorm")?;
    for layer in 0..LAYERS {
        packed.layer(layer)?;
    }
    Ok(packed.bytes)
}

struct Packed<'a> {
    tensors: Tensors<'a>,
    adapter: Adapter,
    bytes: Vec<u8>,
}

impl Packed<'_> {
    fn layer(&mut self, layer: usize) -> Result<(), String> {
        let name = format!("encoder.layer.{layer}");
        for (at, (matrix, shape)) in MATRICES.into_iter().enumerate() {
            let matrix = format!("{name}.{matrix}");
            let mut numbers = self.tensors.tensor(&format!("{matrix}.weight"), shape.rows * shape.columns)?;
            self.adapter.of(layer, at).add_to(&mut numbers);
            self.rows(&matrix, &numbers, shape)?;
            self.numbers(&format!("{matrix}.bias"), shape.rows)?;
            match MATRICES[at].0 {
                "attention.output.dense" => self.norm(&format!("{name}.attention.output.LayerNorm"))?,
                "output.dense" => self.norm(&format!("{name}.output.LayerNorm"))?,
                _ => {}
            }
        }
        Ok(())
    }

    fn norm(&mut self, name: &str) -> Result<(), String> {
        self.numbers(&format!("{name}.weight"), WIDTH)?;
        self.numbers(&format!("{name}.bias"), WIDTH)
    }

    fn numbers(&mut self, name: &str, count: usize) -> Result<(), String> {
        let numbers = self.tensors.tensor(name, count)?;
        self.bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        Ok(())
    }

    fn words(&mut self) -> Result<(), String> {
        let words = self.tensors.tensor("embeddings.word_embeddings.weight", WORDS * WIDTH)?;
        let (common, rare) = words.split_at(format::COMMON_WORDS.rows * WIDTH);
        self.rows("common words", common, format::COMMON_WORDS)?;
        self.rows("rare words", rare, format::RARE_WORDS)
    }

    /// Every text is of the first type, so its vector is added to each position's here.
    fn positions(&mut self) -> Result<(), String> {
        let mut positions = self.tensors.tensor("embeddings.position_embeddings.weight", 512 * WIDTH)?;
        let types = self.tensors.tensor("embeddings.token_type_embeddings.weight", 2 * WIDTH)?;
        positions.truncate(TOKENS_MAX * WIDTH);
        for position in positions.chunks_exact_mut(WIDTH) {
            position.iter_mut().zip(&types).for_each(|(number, of_type)| *number += of_type);
        }
        self.rows("positions", &positions, format::POSITION_VECTORS)
    }

    fn rows(&mut self, name: &str, numbers: &[f32], shape: Shape) -> Result<(), String> {
        for row in numbers.chunks_exact(shape.columns) {
            let row = Row::of(row, shape.bits);
            if shape.bits <= 6 && !row.fits_into_32_bits() {
                return Err(format!("{name}: a row's sum may leave 32 bits"));
            }
            row.write(shape.bits, &mut self.bytes);
        }
        Ok(())
    }
}

/// One row in few bits.
struct Row {
    scale: f32,
    groups: Vec<i8>,
    columns: Vec<i8>,
}

impl Row {
    fn of(row: &[f32], bits: usize) -> Self {
        let half = (1 << (bits - 1)) as f32;
        let (groups, _) = row.as_chunks::<GROUP>();
        let steps: Vec<f32> = groups.iter().map(|group| best_step(group, half)).collect();
        let largest = steps.iter().fold(0.0_f32, |largest, step| largest.max(step.abs()));
        let scale = largest / f32::from(GROUP_SCALE_MAX);
        let mut packed = Self { scale, groups: Vec::new(), columns: Vec::with_capacity(INNER) };
        for (group, step) in groups.iter().zip(steps) {
            let group_scale = group_scale(step, scale);
            packed.groups.push(group_scale);
            let step = f32::from(group_scale) * scale;
            packed.columns.extend(group.map(|weight| level(weight, step, half) as i8));
        }
        packed
    }

    fn fits_into_32_bits(&self) -> bool {
        let groups = self.columns.chunks_exact(GROUP).zip(&self.groups);
        let sum: i64 = groups
            .map(|(columns, scale)| {
                columns.iter().map(|column| (i64::from(*column) * i64::from(*scale)).abs()).sum::<i64>()
            })
            .sum();
        sum * i64::from(format::ACTIVATION_MAX) < i64::from(i32::MAX)
    }

    fn write(&self, bits: usize, bytes: &mut Vec<u8>) {
        bytes.extend(self.scale.to_le_bytes());
        bytes.extend(self.groups.iter().map(|scale| scale.cast_unsigned()));
        let half = 1 << (bits - 1);
        for eight in self.columns.as_chunks::<8>().0 {
            let joined = eight.iter().rev().fold(0_u64, |joined, column| {
                (joined << bits) | u64::from((i16::from(*column) + half).cast_unsigned())
            });
            bytes.extend(&joined.to_le_bytes()[..bits]);
        }
    }
}

/// The step between two levels of a group that leaves the smallest error, with a sign: there is one level
/// more below zero than above, so the largest weight goes below.
fn best_step(group: &[f32; GROUP], half: f32) -> f32 {
    let mut largest = 0.0_f32;
    for weight in group {
        if weight.abs() > largest.abs() {
            largest = *weight;
        }
    }
    if largest == 0.0 {
        return 0.0;
    }
    let mut best = (f32::INFINITY, 0.0);
    for reach in REACHES {
        let step = fitted(group, largest / -(half * reach), half);
        let error = error(group, step, half);
        if error < best.0 {
            best = (error, step);
        }
    }
    best.1
}

/// The step that fits best to the levels which `step` gives.
fn fitted(group: &[f32; GROUP], step: f32, half: f32) -> f32 {
    let (mut products, mut squares) = (0.0_f32, 0.0_f32);
    for weight in group {
        let level = level(*weight, step, half);
        products += level * weight;
        squares += level * level;
    }
    if products == 0.0 || squares == 0.0 { step } else { products / squares }
}

fn error(group: &[f32; GROUP], step: f32, half: f32) -> f32 {
    group.iter().fold(0.0, |sum, weight| {
        let error = level(*weight, step, half) * step - weight;
        sum + error * error
    })
}

fn level(weight: f32, step: f32, half: f32) -> f32 {
    if step == 0.0 { 0.0 } else { (weight / step).round().clamp(-half, half - 1.0) }
}

fn group_scale(step: f32, scale: f32) -> i8 {
    if step == 0.0 {
        return 0;
    }
    let rounded = (step / scale).round() as i8;
    if rounded == 0 { step.signum() as i8 } else { rounded }
}
