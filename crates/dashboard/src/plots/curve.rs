//! A value over time.

use std::fmt::Write as _;

use maud::{Markup, html};

use crate::number::{self, compact, place};
use crate::{Moment, parts};

const WIDTH: f64 = 1_000.0;
const HEIGHT: f64 = 240.0;
/// Labels below the curve.
const LABELS: usize = 5;
const DAY_MS: i64 = 86_400_000;

/// A value at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    pub at: Moment,
    pub value: f64,
}

/// A filled curve with its scale. Points are in order of time.
pub(crate) fn curve(title: &str, unit: &str, points: &[CurvePoint]) -> Markup {
    let scale = Scale::of(points.iter().map(|point| point.value));
    let line = line(points.iter().map(|point| point.value), &scale);
    let zero = place(scale.height(0.0));
    html! {
        figure.plot {
            div.plot-area {
                div.plot-scale aria-hidden="true" {
                    @for tick in scale.ticks().iter().rev() { span { (compact(*tick)) } }
                }
                svg.curve viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" role="img" aria-label=(title) {
                    @for tick in scale.ticks() {
                        @let height = place(scale.height(tick));
                        line.grid x1="0" x2=(WIDTH) y1=(height) y2=(height) {}
                    }
                    @if !line.is_empty() {
                        path.area d={ "M0 " (zero) " L" (line) " L" (WIDTH) " " (zero) " Z" } {}
                        path.stroke d={ "M" (line) } vector-effect="non-scaling-stroke" {}
                    }
                    (hover(points, unit))
                }
                div.plot-times aria-hidden="true" {
                    @for label in labels(points) { span { (label) } }
                }
            }
            (as_table(title, unit, points))
        }
    }
}

/// A curve as small as a word.
pub(crate) fn spark(title: &str, values: &[f64]) -> Markup {
    let scale = Scale::of(values.iter().copied());
    let line = line(values.iter().copied(), &scale);
    html! {
        @if values.len() > 1 {
            svg.spark viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" role="img" aria-label=(title) {
                path.stroke d={ "M" (line) } vector-effect="non-scaling-stroke" {}
            }
        }
    }
}

/// Invisible stripes that say their value on hover.
fn hover(points: &[CurvePoint], unit: &str) -> Markup {
    let width = WIDTH / number::float(points.len().max(1) as u64);
    html! {
        @for (at, point) in points.iter().enumerate() {
            rect.hover x=(place(width * number::float(at as u64))) y="0" width=(place(width)) height=(HEIGHT) {
                title { (point.at.exact()) ": " (compact(point.value)) " " (unit) }
            }
        }
    }
}

fn as_table(title: &str, unit: &str, points: &[CurvePoint]) -> Markup {
    html! {
        details.as-table {
            summary { "Show as a table" }
            (parts::table(
                title,
                &[parts::cell("Until"), parts::number("Value")],
                points.iter().map(|point| vec![
                    html! { (point.at.exact()) },
                    html! { (compact(point.value)) " " (unit) },
                ]),
            ))
        }
    }
}

fn labels(points: &[CurvePoint]) -> Vec<String> {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return Vec::new() };
    let days = last.at.0.saturating_sub(first.at.0) > 2 * DAY_MS;
    let steps = (LABELS - 1).min(points.len() - 1).max(1);
    (0..=steps)
        .filter_map(|step| points.get(step * (points.len() - 1) / steps))
        .map(|point| if days { point.at.day() } else { point.at.clock() })
        .collect()
}

/// Coordinates of a line through values at equal distances.
fn line(values: impl ExactSizeIterator<Item = f64>, scale: &Scale) -> String {
    let steps = number::float(values.len().saturating_sub(1).max(1) as u64);
    let mut line = String::new();
    for (at, value) in values.enumerate() {
        let across = WIDTH * number::float(at as u64) / steps;
        // Writing to a string can't fail.
        let _ = write!(
            line,
            "{}{} {}",
            if at == 0 { "" } else { " L" },
            place(across),
            place(scale.height(value))
        );
    }
    line
}

/// From which value to which, in round steps. Zero is always on it.
struct Scale {
    low: f64,
    step: f64,
    steps: u32,
}

impl Scale {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let (mut low, mut high) = (0.0_f64, 0.0_f64);
        for value in values.filter(|value| value.is_finite()) {
            low = low.min(value);
            high = high.max(value);
        }
        let wanted = ((high - low) / 4.0).max(1e-9);
        let magnitude = 10.0_f64.powf(wanted.log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0].iter().map(|round| round * magnitude);
        let step = step.into_iter().find(|step| *step >= wanted * 0.999).unwrap_or(magnitude * 10.0);
        let low = (low / step).floor() * step;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 1 and 6 by the steps"
        )]
        let steps = ((high - low) / step).ceil().clamp(1.0, 8.0) as u32;
        Scale { low, step, steps }
    }

    fn ticks(&self) -> Vec<f64> {
        (0..=self.steps).map(|step| self.low + self.step * f64::from(step)).collect()
    }

    fn height(&self, value: f64) -> f64 {
        HEIGHT - HEIGHT * (value - self.low) / (self.step * f64::from(self.steps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_round_and_hold_every_value() {
        let check = |values: &[f64], expected: &[f64]| {
            assert_eq!(Scale::of(values.iter().copied()).ticks(), expected);
        };
        check(&[0.0, 87.0], &[0.0, 25.0, 50.0, 75.0, 100.0]);
        check(&[-40.0, 50.0], &[-50.0, -25.0, 0.0, 25.0, 50.0]);
        check(&[f64::NAN, 4.0], &[0.0, 1.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn a_curve_without_points_or_with_one_is_drawn() {
        assert!(curve("t", "tokens", &[]).into_string().contains("</svg>"));
        let one = curve("t", "tokens", &[CurvePoint { at: Moment(0), value: 3.0 }]).into_string();
        assert!(one.contains("M0 0\""), "{one}");
        assert!(!one.contains("NaN"), "{one}");
    }
}
