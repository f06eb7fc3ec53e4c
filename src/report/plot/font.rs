//! The embedded font, so that a picture looks the same wherever it is made.

mod face;

use face::{Face, Measures};
use plotters::style::{FontDesc, FontFamily, FontStyle, register_font};
use std::sync::Once;

static REGULAR: &[u8] = include_bytes!("../../../assets/fonts/DejaVuSans-subset.ttf");
static BOLD: &[u8] = include_bytes!("../../../assets/fonts/DejaVuSans-Bold-subset.ttf");

/// Height of a line above its baseline, in em.
pub(super) const ASCENT: f64 = 0.76;
/// Depth of a line below its baseline, in em.
pub(super) const DESCENT: f64 = 0.24;
/// Height of a capital or a digit, in em.
pub(super) const CAPITAL: f64 = 0.729;

/// What the rasteriser calls the size of a font: from the highest to the lowest point of any
/// glyph, here 1901 + 483 of 2048 units.
pub(super) const RASTER_SIZE_PER_EM: f64 = 2384.0 / 2048.0;

/// Makes the font known to the drawing library; false when it cannot be used.
pub(super) fn ready() -> bool {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        // A failure shows below, where the font is asked for.
        let _ = register_font("sans-serif", FontStyle::Normal, REGULAR);
        let _ = register_font("sans-serif", FontStyle::Bold, BOLD);
    });
    described(12.0, false).layout_box("0").is_ok()
}

/// The font at a size the rasteriser understands.
pub(super) fn described(size: f64, bold: bool) -> FontDesc<'static> {
    let style = if bold { FontStyle::Bold } else { FontStyle::Normal };
    FontDesc::new(FontFamily::SansSerif, size, style)
}

/// Each character of a text with the place of its leftmost ink, in em from the start.
pub(super) fn laid_out(text: &str, bold: bool) -> impl Iterator<Item = (char, f64)> + '_ {
    let mut pen = 0.0;
    text.chars().map(move |sign| {
        let Measures { advance, bearing } = measures(sign, bold);
        let ink = pen + bearing;
        pen += advance;
        (sign, ink)
    })
}

/// The width of a text at `size` pixels an em.
pub(super) fn width(text: &str, size: f64, bold: bool) -> f64 {
    text.chars().map(|sign| measures(sign, bold).advance).sum::<f64>() * size
}

fn measures(sign: char, bold: bool) -> Measures {
    // The box that stands for a missing glyph.
    let missing = Measures { advance: 0.6, bearing: 0.05 };
    Face(if bold { BOLD } else { REGULAR }).measures(sign).unwrap_or(missing)
}

/// The text, or as much of its start as fits with an ellipsis; nothing when not even that does.
pub(super) fn elided(text: &str, size: f64, bold: bool, room: f64) -> String {
    if width(text, size, bold) <= room {
        return text.to_owned();
    }
    let mut kept: Vec<char> = text.chars().take(200).collect();
    while kept.len() > 1 {
        kept.pop();
        let shorter = format!("{}…", kept.iter().collect::<String>().trim_end());
        if width(&shorter, size, bold) <= room {
            return shorter;
        }
    }
    String::new()
}

/// The text, or its two ends around an ellipsis: numbers at the end tell names apart.
pub(super) fn squeezed(text: &str, size: f64, bold: bool, room: f64) -> String {
    let signs: Vec<char> = text.chars().take(200).collect();
    let mut kept = signs.len();
    if width(text, size, bold) <= room {
        return text.to_owned();
    }
    while kept > 2 {
        kept -= 1;
        let (head, tail) = (kept.div_ceil(2), kept / 2);
        let ends = [signs.get(..head), signs.get(signs.len() - tail..)];
        let [head, tail] = ends.map(|end| end.unwrap_or_default().iter().collect::<String>());
        let shorter = format!("{head}…{tail}");
        if width(&shorter, size, bold) <= room {
            return shorter;
        }
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sign_a_picture_uses_is_in_both_fonts() {
        assert!(ready());
        for sign in "azAZ09 @µΩ°·×…−±–—→²³₂%()αλé".chars() {
            assert!(Face(REGULAR).measures(sign).is_some(), "{sign}");
            assert!(Face(BOLD).measures(sign).is_some(), "{sign}");
        }
        assert_eq!(Face(REGULAR).measures('\u{4e00}'), None);
        assert_eq!(Face(REGULAR).measures('\u{1f600}'), None);
        assert_eq!(Face(&REGULAR[..100]).measures('a'), None);
    }

    #[test]
    fn measures_are_those_of_the_font() {
        // DejaVu Sans 2.37: J is 604 units wide and starts 106 left of its origin.
        let j = Face(REGULAR).measures('J').unwrap();
        assert_eq!((j.advance * 2048.0, j.bearing * 2048.0), (604.0, -106.0));
        assert!((width("JJ", 10.0, false) - 20.0 * 604.0 / 2048.0).abs() < 1e-9);
    }

    #[test]
    fn a_long_text_loses_its_end() {
        let full = "depthwise_convolution";
        let room = width(full, 12.0, false) * 0.6;
        let short = elided(full, 12.0, false, room);
        assert!(short.starts_with("depth") && short.ends_with('…'), "{short}");
        assert!(width(&short, 12.0, false) <= room);
        assert_eq!(elided(full, 12.0, false, 1.0), "");
        let ends = squeezed("depthwise_conv_12", 12.0, false, 70.0);
        assert!(ends.starts_with("dep") && ends.ends_with("12") && ends.contains('…'), "{ends}");
        assert!(width(&ends, 12.0, false) <= 70.0);
        assert_eq!(squeezed("conv", 12.0, false, 70.0), "conv");
    }
}
