//! A forecast as a picture: two lines, bars for rain, and the temperatures at the left.

use super::climate::Day;
use super::png::Canvas;

const WIDTH: i64 = 360;
const HEIGHT: i64 = 180;
const LEFT: i64 = 24;
const MARGIN: i64 = 10;

const PALETTE: [[u8; 3]; 4] = [[255, 255, 255], [150, 150, 150], [200, 40, 40], [40, 90, 190]];
const GREY: u8 = 1;
const RED: u8 = 2;
const BLUE: u8 = 3;

/// The chart as a PNG file.
pub fn draw(days: &[Day]) -> Vec<u8> {
    let mut canvas = Canvas::new(WIDTH as usize, HEIGHT as usize);
    let lowest = days.iter().map(|day| day.temp_min_c).fold(f64::INFINITY, f64::min);
    let highest = days.iter().map(|day| day.temp_max_c).fold(f64::NEG_INFINITY, f64::max);
    if !lowest.is_finite() || !highest.is_finite() {
        return canvas.encode(PALETTE);
    }
    let bottom = (lowest / 5.0).floor() * 5.0;
    let top = ((highest / 5.0).ceil() * 5.0).max(bottom + 5.0);
    let y = |degrees: f64| {
        let share = (top - degrees) / (top - bottom);
        MARGIN + (share * (HEIGHT - 2 * MARGIN) as f64).round() as i64
    };
    let step = (WIDTH - LEFT - MARGIN) / days.len().max(1) as i64;
    let x = |index: usize| LEFT + step / 2 + step * index as i64;

    let mut degrees = bottom;
    while degrees <= top {
        for at in (LEFT..WIDTH - MARGIN).step_by(3) {
            canvas.dot(at, y(degrees), GREY);
        }
        write_number(&mut canvas, degrees as i64, y(degrees) - 2);
        degrees += 5.0;
    }
    for (index, day) in days.iter().enumerate() {
        let rain = (day.precipitation_mm * 3.0).min((HEIGHT / 3) as f64) as i64;
        for up in 0..rain {
            for across in -step / 6..=step / 6 {
                canvas.dot(x(index) + across, HEIGHT - MARGIN - up, GREY);
            }
        }
    }
    for (index, pair) in days.windows(2).enumerate() {
        line(&mut canvas, [x(index), y(pair[0].temp_max_c)], [x(index + 1), y(pair[1].temp_max_c)], RED);
        line(&mut canvas, [x(index), y(pair[0].temp_min_c)], [x(index + 1), y(pair[1].temp_min_c)], BLUE);
    }
    for (index, day) in days.iter().enumerate() {
        square(&mut canvas, x(index), y(day.temp_max_c), RED);
        square(&mut canvas, x(index), y(day.temp_min_c), BLUE);
    }
    canvas.encode(PALETTE)
}

fn line(canvas: &mut Canvas, from: [i64; 2], to: [i64; 2], color: u8) {
    let steps = (to[0] - from[0]).abs().max((to[1] - from[1]).abs()).max(1);
    for step in 0..=steps {
        let across = from[0] + (to[0] - from[0]) * step / steps;
        let down = from[1] + (to[1] - from[1]) * step / steps;
        canvas.dot(across, down, color);
        canvas.dot(across, down + 1, color);
    }
}

fn square(canvas: &mut Canvas, x: i64, y: i64, color: u8) {
    for across in -2..=2 {
        for down in -2..=2 {
            canvas.dot(x + across, y + down, color);
        }
    }
}

/// Digits of three by five dots, one number for each row, and the minus sign as the eleventh.
const GLYPHS: [[u8; 5]; 11] = [
    [7, 5, 5, 5, 7],
    [2, 6, 2, 2, 7],
    [7, 1, 7, 4, 7],
    [7, 1, 7, 1, 7],
    [5, 5, 7, 1, 1],
    [7, 4, 7, 1, 7],
    [7, 4, 7, 5, 7],
    [7, 1, 1, 1, 1],
    [7, 5, 7, 5, 7],
    [7, 5, 7, 1, 7],
    [0, 0, 7, 0, 0],
];

/// A number that ends at the left edge of the chart.
fn write_number(canvas: &mut Canvas, number: i64, y: i64) {
    let text = number.to_string();
    let mut x = LEFT - 3 - 4 * text.len() as i64;
    for character in text.chars() {
        let glyph = character.to_digit(10).map_or(GLYPHS[10], |digit| GLYPHS[digit as usize]);
        for (row, dots) in glyph.into_iter().enumerate() {
            for column in 0..3 {
                if dots >> (2 - column) & 1 == 1 {
                    canvas.dot(x + column, y + row as i64, GREY);
                }
            }
        }
        x += 4;
    }
}
