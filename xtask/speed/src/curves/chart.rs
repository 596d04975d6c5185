//! A chart of time and memory in two panels with logarithmic axes, as SVG.

use std::fmt::Write;

/// A chart.
pub struct Chart {
    pub title: String,
    /// Label of the horizontal axis.
    pub x: &'static str,
    /// Label of the left panel.
    pub time: &'static str,
    pub lines: Vec<Line>,
}

/// A line of size, seconds and bytes.
pub struct Line {
    pub name: &'static str,
    pub points: Vec<(u64, f64, u64)>,
}

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 300.0;
/// Size of a panel without labels.
const PANEL: (f64, f64) = (330.0, 200.0);
const LEFTS: [f64; 2] = [62.0, 492.0];
const TOP: f64 = 46.0;

/// Colors follow the reader's color scheme. Lines also differ in their dashes.
const STYLE: &str = "\
svg{color-scheme:light dark;--text:#1c2330;--soft:#5a6472;--line:#d5dbe3;--c0:#2f6fb0;--c1:#b5651d;--c2:#3a7d44;--c3:#8a3f8f}\
@media (prefers-color-scheme:dark){svg{--text:#e4e9f0;--soft:#a3aebb;--line:#39424e;--c0:#6aa9e4;--c1:#e0a060;--c2:#7cc48a;--c3:#d49ad8}}\
text{font:11px ui-monospace,monospace;fill:var(--text)}.soft{fill:var(--soft)}.grid{stroke:var(--line);stroke-width:1}\
.l0,.l1,.l2,.l3{fill:none;stroke-width:1.8}.l0{stroke:var(--c0)}.l1{stroke:var(--c1);stroke-dasharray:7 3}\
.l2{stroke:var(--c2);stroke-dasharray:2 3}.l3{stroke:var(--c3);stroke-dasharray:9 3 2 3}\
.d0{fill:var(--c0)}.d1{fill:var(--c1)}.d2{fill:var(--c2)}.d3{fill:var(--c3)}";

/// A logarithmic axis between powers of ten.
struct Axis {
    low: f64,
    high: f64,
}

impl Axis {
    /// Returns an axis for all values, which must be positive.
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let logarithms = values.map(|value| value.max(1e-9).log10());
        let (low, high) =
            logarithms.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        let (low, high) = if low.is_finite() { ((low + 1e-9).floor(), (high - 1e-9).ceil()) } else { (0.0, 1.0) };
        Self { low, high: high.max(low + 1.0) }
    }

    /// Returns the position of a value from 0 to 1.
    fn place(&self, value: f64) -> f64 {
        (value.max(1e-9).log10() - self.low) / (self.high - self.low)
    }

    fn ticks(&self) -> impl Iterator<Item = i32> + use<> {
        let (low, high) = (self.low as i32, self.high as i32);
        (low..=high).step_by(if high - low > 8 { 2 } else { 1 })
    }
}

impl Chart {
    pub fn svg(&self) -> String {
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">\n\
             <title>{}</title>\n<style>{STYLE}</style>\n",
            self.title
        );
        let seconds = |(x, seconds, _): &(u64, f64, u64)| (*x as f64, *seconds);
        let bytes = |(x, _, bytes): &(u64, f64, u64)| (*x as f64, (*bytes as f64).max(4096.0));
        self.panel(&mut svg, LEFTS[0], self.time, seconds, second_label);
        self.panel(&mut svg, LEFTS[1], "peak memory", bytes, byte_label);
        self.legend(&mut svg);
        svg.push_str("</svg>\n");
        svg
    }

    fn panel(
        &self,
        svg: &mut String,
        left: f64,
        name: &str,
        value: impl Fn(&(u64, f64, u64)) -> (f64, f64) + Copy,
        label: fn(i32) -> String,
    ) {
        let points = || self.lines.iter().flat_map(|line| &line.points).map(value);
        let (across, up) = (Axis::of(points().map(|point| point.0)), Axis::of(points().map(|point| point.1)));
        let place = |(x, y): (f64, f64)| (left + across.place(x) * PANEL.0, TOP + (1.0 - up.place(y)) * PANEL.1);
        let (right, bottom) = (left + PANEL.0, TOP + PANEL.1);
        let _ = writeln!(svg, "<text x=\"{left}\" y=\"{}\">{name}</text>", TOP - 10.0);
        for tick in up.ticks() {
            let (_, y) = place((1.0, 10_f64.powi(tick)));
            grid_line(svg, (left, y), (right, y));
            soft_text(svg, (left - 6.0, y + 4.0), "end", &label(tick));
        }
        for tick in across.ticks() {
            let (x, _) = place((10_f64.powi(tick), 1.0));
            grid_line(svg, (x, TOP), (x, bottom));
            soft_text(svg, (x, bottom + 15.0), "middle", &count_label(tick));
        }
        soft_text(svg, (right, bottom + 30.0), "end", self.x);
        for (number, line) in self.lines.iter().enumerate() {
            let places: Vec<(f64, f64)> = line.points.iter().map(|point| place(value(point))).collect();
            let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            let _ = writeln!(svg, "<polyline class=\"l{number}\" points=\"{}\"/>", path.join(" "));
            for (x, y) in places {
                let _ = writeln!(svg, "<circle class=\"d{number}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.4\"/>");
            }
        }
    }

    /// Draws the legend below both panels.
    fn legend(&self, svg: &mut String) {
        let mut x = LEFTS[0];
        let y = HEIGHT - 8.0;
        for (number, line) in self.lines.iter().enumerate() {
            let (end, middle) = (x + 26.0, y - 4.0);
            let _ = writeln!(svg, "<polyline class=\"l{number}\" points=\"{x:.1},{middle:.1} {end:.1},{middle:.1}\"/>");
            let _ = writeln!(svg, "<text x=\"{:.1}\" y=\"{y:.1}\">{}</text>", end + 5.0, line.name);
            x = end + 24.0 + 6.8 * line.name.len() as f64;
        }
    }
}

fn grid_line(svg: &mut String, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
    let _ = writeln!(svg, "<line class=\"grid\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>");
}

fn soft_text(svg: &mut String, (x, y): (f64, f64), anchor: &str, text: &str) {
    let _ = writeln!(svg, "<text class=\"soft\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>");
}

fn second_label(power: i32) -> String {
    match power {
        ..=-4 => format!("{} µs", 10_f64.powi(power + 6)),
        -3..=-1 => format!("{} ms", 10_f64.powi(power + 3)),
        _ => format!("{} s", 10_f64.powi(power)),
    }
}

fn byte_label(power: i32) -> String {
    match power {
        ..=5 => format!("{} kB", 10_f64.powi(power - 3)),
        6..=8 => format!("{} MB", 10_f64.powi(power - 6)),
        _ => format!("{} GB", 10_f64.powi(power - 9)),
    }
}

fn count_label(power: i32) -> String {
    match power {
        ..=2 => format!("{}", 10_f64.powi(power)),
        3..=5 => format!("{}k", 10_f64.powi(power - 3)),
        _ => format!("{}M", 10_f64.powi(power - 6)),
    }
}

#[cfg(test)]
mod tests {
    use super::{Axis, Chart, Line};

    #[test]
    fn points_are_inside_of_the_panels() {
        let axis = Axis::of([3.0, 250.0].into_iter());
        assert!((axis.place(1.0)).abs() < 1e-9 && (axis.place(1000.0) - 1.0).abs() < 1e-9);
        assert_eq!(axis.ticks().collect::<Vec<_>>(), [0, 1, 2, 3]);
    }

    #[test]
    fn each_line_is_drawn_twice_and_named() {
        let points = vec![(1, 0.001, 1 << 20), (10, 0.01, 1 << 21)];
        let line = |name| Line { name, points: points.clone() };
        let chart = Chart { title: "t".to_owned(), x: "cells", time: "seconds", lines: vec![line("one"), line("two")] };
        let svg = chart.svg();
        assert_eq!(svg.matches("class=\"l1\"").count(), 3, "{svg}");
        assert!(svg.contains(">two</text>") && svg.ends_with("</svg>\n"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
