//! Layers as regions of time: shaded behind the power, named in a band above it.

use super::buckets::Grid;
use super::font;
use super::scene::{Anchor, Area, Ink, Label, Scene};
use super::theme::Theme;
use crate::trace::{Span, SpanKind, Trace};

const NAME_SIZE: f64 = 12.0;
const LONGEST_NAME: f64 = 140.0;
/// A name beside its region's edges needs this much room more than its own.
const PADDING: f64 = 4.0;
/// Edges closer than this would hide what they part.
const CLOSEST_EDGES: f64 = 6.0;
/// Room in which a name still says something with its middle left out.
const SQUEEZED: f64 = 60.0;
/// Narrower regions cannot be told apart.
const NARROWEST: f64 = 2.0;

struct Region {
    left: f64,
    right: f64,
    name: String,
    is_odd: bool,
}

/// What the band shows, from left to right.
pub(super) struct Regions {
    regions: Vec<Region>,
    /// What they are: `layer`, or `inference` where layers are too narrow.
    pub kind: SpanKind,
    upright: bool,
    pub height: f64,
}

impl Regions {
    /// The layers within the range, or the inferences where most layers are too narrow to see.
    pub(super) fn of(trace: &Trace, grid: &Grid, left: f64) -> Option<Self> {
        let layers = regions(trace, SpanKind::Layer, grid, left);
        let wide = layers.iter().filter(|r| r.right - r.left >= NARROWEST).count();
        if !layers.is_empty() && 2 * wide >= layers.len() {
            return Some(Self::named(layers, SpanKind::Layer));
        }
        // Those of several streams overlap, and have a lane each.
        let mut tracks = trace.spans.iter().filter(|span| span.kind == SpanKind::Inference);
        let first = tracks.next().map(|span| &span.track);
        if tracks.any(|span| Some(&span.track) != first) {
            return None;
        }
        let inferences = regions(trace, SpanKind::Inference, grid, left);
        let wide = inferences.iter().filter(|r| r.right - r.left >= NARROWEST).count();
        let seen = !inferences.is_empty() && 2 * wide >= inferences.len();
        seen.then(|| Self::named(inferences, SpanKind::Inference))
    }

    fn named(mut regions: Vec<Region>, kind: SpanKind) -> Self {
        shorten(&mut regions);
        let turned = |r: &&Region| !fits_lying(r) && fits_upright(r);
        // One name among many that cannot be shown, or one that can be squeezed, is not worth the
        // height.
        let in_need = regions.iter().filter(turned).filter(|r| r.right - r.left < SQUEEZED).count();
        let upright = in_need > 1 && 5 * in_need >= regions.len();
        let widths = regions.iter().filter(turned);
        let longest = widths
            .map(|r| font::width(&r.name, NAME_SIZE, false).min(LONGEST_NAME))
            .fold(0.0, f64::max);
        let height = if upright { longest + 2.0 * PADDING } else { 20.0 };
        Self { regions, kind, upright, height: height.ceil().max(20.0) }
    }

    /// Alternating shades, with a thin line at each edge.
    pub(super) fn draw_shade(&self, scene: &mut Scene, area: &Area, theme: &Theme) {
        for region in &self.regions {
            if region.is_odd {
                scene.fill(Area { left: region.left, right: region.right, ..*area }, theme.shade);
            }
        }
    }

    /// Edges that show through the stack.
    pub(super) fn draw_edges(&self, scene: &mut Scene, area: &Area, theme: &Theme) {
        let ink = theme.paper.faded(0.45);
        let mut last = f64::NEG_INFINITY;
        for region in &self.regions {
            for x in [region.left, region.right] {
                if x - last >= CLOSEST_EDGES && x > area.left && x < area.right {
                    scene.rule((x, area.top), (x, area.bottom), 1.0, ink);
                    last = x;
                }
            }
        }
    }

    /// The band of names.
    pub(super) fn draw_names(&self, scene: &mut Scene, band: &Area, theme: &Theme) {
        for region in &self.regions {
            let area = Area { left: region.left, right: region.right, ..*band };
            let share = if region.is_odd { 0.55 } else { 0.25 };
            scene.fill(area, theme.paper.mixed(theme.layer, share));
            if let Some(label) = self.label(region, &area, theme.text) {
                scene.text(label);
            }
        }
    }

    fn label(&self, region: &Region, area: &Area, ink: Ink) -> Option<Label> {
        let (x, y) = area.center();
        let drop = NAME_SIZE * font::CAPITAL / 2.0;
        if fits_lying(region) {
            let label = Label::new(&region.name, (x, y + drop), NAME_SIZE, ink);
            return Some(label.anchored(Anchor::Middle));
        }
        if !self.upright {
            let room = area.width() - 2.0 * PADDING;
            let wide = area.width() >= SQUEEZED;
            let name = wide.then(|| font::squeezed(&region.name, NAME_SIZE, false, room))?;
            let label = Label::new(name, (x, y + drop), NAME_SIZE, ink);
            return Some(label.anchored(Anchor::Middle));
        }
        if !fits_upright(region) {
            return None;
        }
        let name = font::squeezed(&region.name, NAME_SIZE, false, LONGEST_NAME);
        let at = (x + drop, area.bottom - PADDING);
        Some(Label::new(name, at, NAME_SIZE, ink).upright())
    }
}

fn fits_lying(region: &Region) -> bool {
    let width = region.right - region.left;
    // Anything narrower than two letters is not worth measuring.
    width > 2.0 * PADDING + 12.0
        && font::width(&region.name, NAME_SIZE, false) + 2.0 * PADDING <= width
}

fn fits_upright(region: &Region) -> bool {
    region.right - region.left >= NAME_SIZE + 2.0
}

/// The spans of a kind that do not overlap, in the order of time; of those that do, the first.
fn regions(trace: &Trace, kind: SpanKind, grid: &Grid, left: f64) -> Vec<Region> {
    let within = |s: &&Span| s.kind == kind && s.end > grid.from && s.start < grid.to;
    let mut spans: Vec<&Span> = trace.spans.iter().filter(within).collect();
    spans.sort_by_key(|span| (span.start, span.end));
    let mut out: Vec<Region> = Vec::new();
    let mut free = grid.from;
    for span in spans {
        if span.start < free && span.start >= grid.from || span.end <= free {
            continue;
        }
        free = span.end;
        out.push(Region {
            left: left + grid.place(span.start.max(grid.from)),
            right: left + grid.place(span.end.min(grid.to)),
            name: span.name.clone(),
            is_odd: out.len() % 2 == 1,
        });
    }
    out
}

/// Takes off what all names start with, up to a separator: `model/block_1/conv` has no news in
/// `model/`.
fn shorten(regions: &mut [Region]) {
    let prefix = shared_prefix(regions.iter().map(|region| region.name.as_str()));
    for region in regions.iter_mut() {
        if let Some(rest) = region.name.get(prefix..).filter(|rest| !rest.is_empty()) {
            region.name = rest.to_owned();
        }
    }
}

/// How many bytes all names start with, up to a separator.
pub(super) fn shared_prefix<'a>(mut names: impl Iterator<Item = &'a str>) -> usize {
    let Some(mut shared) = names.next() else { return 0 };
    for name in names {
        let same = shared.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
        let cut = (0..=same).rev().find(|at| shared.is_char_boundary(*at)).unwrap_or(0);
        shared = shared.get(..cut).unwrap_or_default();
    }
    shared.rfind(['/', ':', '.']).map_or(0, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_names_share_is_left_out() {
        let named = |names: &[&str]| {
            let region =
                |n: &&str| Region { left: 0.0, right: 1.0, name: (*n).to_owned(), is_odd: false };
            let mut regions: Vec<_> = names.iter().map(region).collect();
            shorten(&mut regions);
            regions.into_iter().map(|r| r.name).collect::<Vec<_>>()
        };
        assert_eq!(named(&["net/a/conv1", "net/a/conv2"]), ["conv1", "conv2"]);
        assert_eq!(named(&["conv1", "conv2"]), ["conv1", "conv2"]);
        assert_eq!(named(&["é/x", "è/x"]), ["é/x", "è/x"]);
        assert_eq!(named(&["net/only"]), ["only"]);
    }
}
