//! A scene as a PNG or SVG file.
//!
//! Both are painted on a grid of half pixels: the bitmap is averaged down, which smooths edges and
//! text, and the vector picture is scaled by its view box.

use super::PlotError;
use super::font;
use super::scene::{Anchor, Area, Ink, Label, Run, Scene, Shape};
use plotters::backend::{BitMapBackend, DrawingBackend, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{
    Color, FontDesc, FontFamily, FontStyle, FontTransform, RGBAColor, ShapeStyle,
};
use std::path::Path;

/// Grid points a pixel.
const GRID: u32 = 2;

/// What the two kinds of backend disagree in.
#[derive(Clone, Copy, PartialEq)]
enum Target {
    Vector,
    Raster,
}

/// Writes a scene as SVG.
pub(super) fn write_svg(scene: &Scene, size: (u32, u32), path: &Path) -> Result<(), PlotError> {
    let (width, height) = (size.0 * GRID, size.1 * GRID);
    let mut text = String::new();
    {
        let mut backend = SVGBackend::with_string(&mut text, (width, height));
        paint(scene, &mut backend, Target::Vector, path)?;
        backend.present().map_err(|e| failed(path, &e))?;
    }
    // The grid is drawn at the size of the picture.
    let grid = format!(r#"width="{width}" height="{height}""#);
    let picture = format!(r#"width="{}" height="{}""#, size.0, size.1);
    std::fs::write(path, text.replacen(&grid, &picture, 1))
        .map_err(|source| PlotError::Write { path: path.to_owned(), source })
}

/// Writes a scene as PNG.
pub(super) fn write_png(scene: &Scene, size: (u32, u32), path: &Path) -> Result<(), PlotError> {
    let (width, height) = (size.0 * GRID, size.1 * GRID);
    let mut pixels = vec![0; (width * height * 3) as usize];
    {
        let mut backend = BitMapBackend::with_buffer(&mut pixels, (width, height));
        paint(scene, &mut backend, Target::Raster, path)?;
    }
    let pixels = averaged(&pixels, size);
    let mut file = BitMapBackend::new(path, size);
    file.blit_bitmap((0, 0), size, &pixels).map_err(|e| failed(path, &e))?;
    // The picture is painted: what can fail now is the file.
    file.present().map_err(|e| PlotError::Write {
        path: path.to_owned(),
        source: std::io::Error::other(e.to_string()),
    })
}

/// Each pixel the mean of its grid points.
fn averaged(grid: &[u8], (width, height): (u32, u32)) -> Vec<u8> {
    let row = (width * GRID * 3) as usize;
    let mut out = Vec::with_capacity((width * height * 3) as usize);
    for pair in grid.chunks_exact(2 * row) {
        let (upper, lower) = pair.split_at(row);
        for (above, below) in upper.chunks_exact(6).zip(lower.chunks_exact(6)) {
            for channel in 0..3 {
                let at = |side: &[u8], x: usize| side.get(x).copied().map_or(0, u16::from);
                let sum = at(above, channel)
                    + at(above, channel + 3)
                    + at(below, channel)
                    + at(below, channel + 3);
                out.push(((sum + 2) / 4) as u8);
            }
        }
    }
    out
}

fn failed(path: &Path, error: &impl std::fmt::Display) -> PlotError {
    PlotError::Draw { path: path.to_owned(), reason: error.to_string() }
}

fn paint<B: DrawingBackend>(
    scene: &Scene,
    backend: &mut B,
    target: Target,
    path: &Path,
) -> Result<(), PlotError> {
    for shape in &scene.shapes {
        match shape {
            Shape::Fill(area, ink) => fill(backend, *area, *ink),
            Shape::Band(runs, ink) => band(backend, runs, *ink, target),
            Shape::Steps(points, width, ink) => steps(backend, points, *width, *ink, target),
            Shape::Line(points, width, ink) => {
                let path: Vec<_> = points.iter().copied().map(point).collect();
                backend.draw_path(path, &style(*ink, *width)).map_err(|e| e.to_string())
            }
            Shape::Polygon(outline, ink) => {
                let outline: Vec<_> = outline.iter().copied().map(point).collect();
                backend.fill_polygon(outline, &style(*ink, 1.0)).map_err(|e| e.to_string())
            }
            Shape::Disc(center, radius, ink) => {
                let radius = grid(*radius).max(1) as u32;
                let style = style(*ink, 1.0);
                backend.draw_circle(point(*center), radius, &style, true).map_err(|e| e.to_string())
            }
            Shape::Strokes(lines, ink) => strokes(backend, lines, *ink),
            Shape::Text(label) => text(backend, label, target),
        }
        .map_err(|reason| PlotError::Draw { path: path.to_owned(), reason })?;
    }
    Ok(())
}

fn grid(length: f64) -> i32 {
    (length * f64::from(GRID)).round() as i32
}

fn point((x, y): (f64, f64)) -> (i32, i32) {
    (grid(x), grid(y))
}

fn color(ink: Ink) -> RGBAColor {
    RGBAColor(ink.rgb.0, ink.rgb.1, ink.rgb.2, ink.alpha)
}

fn style(ink: Ink, width: f64) -> ShapeStyle {
    ShapeStyle { color: color(ink), filled: true, stroke_width: grid(width).max(1) as u32 }
}

fn fill<B: DrawingBackend>(backend: &mut B, area: Area, ink: Ink) -> Result<(), String> {
    let (from, to) = (point((area.left, area.top)), point((area.right, area.bottom)));
    // Nothing that should be seen rounds away.
    let to = (to.0.max(from.0 + 1), to.1.max(from.1 + 1));
    backend.draw_rect(from, to, &style(ink, 1.0), true).map_err(|e| e.to_string())
}

/// A polygon where there are shapes, rectangles where there are pixels, so that neither seams nor
/// smoothed edges show between the bands of a stack.
fn band<B: DrawingBackend>(
    backend: &mut B,
    runs: &[Run],
    ink: Ink,
    target: Target,
) -> Result<(), String> {
    if target == Target::Vector {
        let upper = runs.iter().flat_map(|r| [(r.left, r.top), (r.right, r.top)]);
        let lower = runs.iter().rev().flat_map(|r| [(r.right, r.bottom), (r.left, r.bottom)]);
        let outline: Vec<_> = upper.chain(lower).map(point).collect();
        return backend.fill_polygon(outline, &style(ink, 1.0)).map_err(|e| e.to_string());
    }
    for run in runs {
        let (from, to) = (point((run.left, run.top)), point((run.right, run.bottom)));
        if to.0 > from.0 && to.1 > from.1 {
            backend.draw_rect(from, to, &style(ink, 1.0), true).map_err(|e| e.to_string())?;
        }
    }
    Ok(())
}

fn steps<B: DrawingBackend>(
    backend: &mut B,
    points: &[(f64, f64)],
    width: f64,
    ink: Ink,
    target: Target,
) -> Result<(), String> {
    if target == Target::Vector {
        let path: Vec<_> = points.iter().copied().map(point).collect();
        return backend.draw_path(path, &style(ink, width)).map_err(|e| e.to_string());
    }
    // Every piece is horizontal or vertical: a rectangle that reaches half a width past its ends
    // closes the corners.
    let half = width / 2.0;
    for pair in points.windows(2) {
        let [(x, y), (to_x, to_y)] = [pair[0], pair[1]];
        let area = Area {
            left: x.min(to_x) - half,
            right: x.max(to_x) + half,
            top: y.min(to_y) - half,
            bottom: y.max(to_y) + half,
        };
        fill(backend, area, ink)?;
    }
    Ok(())
}

fn strokes<B: DrawingBackend>(
    backend: &mut B,
    lines: &[[(f64, f64); 2]],
    ink: Ink,
) -> Result<(), String> {
    let style = style(ink, 0.0);
    for [from, to] in lines {
        backend.draw_line(point(*from), point(*to), &style).map_err(|e| e.to_string())?;
    }
    Ok(())
}

fn text<B: DrawingBackend>(backend: &mut B, label: &Label, target: Target) -> Result<(), String> {
    match target {
        Target::Vector => text_as_text(backend, label),
        Target::Raster => text_as_pixels(backend, label),
    }
}

/// The viewer's own font, nearest to ours in width.
fn text_as_text<B: DrawingBackend>(backend: &mut B, label: &Label) -> Result<(), String> {
    let em = label.size * f64::from(GRID);
    // The backend takes the top of a line and puts the baseline 0.76 em below it, and it divides
    // the size by 1.24.
    let drop = 0.76 * label.size;
    let (x, y) = label.at;
    let at = if label.upright { (x - drop, y) } else { (x, y - drop) };
    let h_pos = match label.anchor {
        Anchor::Start => HPos::Left,
        Anchor::Middle => HPos::Center,
        Anchor::End => HPos::Right,
    };
    let face = if label.bold { FontStyle::Bold } else { FontStyle::Normal };
    let turn = if label.upright { FontTransform::Rotate270 } else { FontTransform::None };
    let family = FontFamily::Name("DejaVu Sans, Verdana, sans-serif");
    let font = FontDesc::new(family, em * 1.24, face).transform(turn);
    let style = font.color(&color(label.ink)).pos(Pos::new(h_pos, VPos::Top));
    backend.draw_text(&label.text, &style, point(at)).map_err(|e| e.to_string())
}

/// Glyph by glyph: the library draws the ink of each at the pen, whatever its side bearing, which
/// tears words apart.
fn text_as_pixels<B: DrawingBackend>(backend: &mut B, label: &Label) -> Result<(), String> {
    let wanted = label.size * f64::from(GRID) * font::RASTER_SIZE_PER_EM;
    // The baseline lies half the size down, cut to whole pixels: an even size has nothing to cut.
    let size = ((wanted / 2.0).round() * 2.0).max(2.0);
    let (baseline, em) = ((size / 2.0) as i32, size / font::RASTER_SIZE_PER_EM);
    let font = font::described(size, label.bold);
    let ink = color(label.ink).to_backend_color();
    let before = match label.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => font::width(&label.text, em, label.bold) / 2.0,
        Anchor::End => font::width(&label.text, em, label.bold),
    };
    let origin = point(label.at);
    for (sign, place) in font::laid_out(&label.text, label.bold) {
        let left = (place * em - before).floor() as i32;
        let painted = font.draw(sign.encode_utf8(&mut [0; 4]), (left, 0), |x, y, coverage| {
            let (x, y) = (x, y - baseline);
            let (x, y) = if label.upright { (y, -x) } else { (x, y) };
            backend.draw_pixel((origin.0 + x, origin.1 + y), ink.mix(f64::from(coverage)))
        });
        painted.map_err(|e| e.to_string())?.map_err(|e| e.to_string())?;
    }
    Ok(())
}
