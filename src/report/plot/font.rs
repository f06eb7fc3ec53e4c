//! The embedded font, so that a picture looks the same wherever it is made.

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

/// Makes the font known; false when it cannot be used.
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

/// The width of a text at `size` pixels an em.
pub(super) fn width(text: &str, size: f64, bold: bool) -> f64 {
    ready();
    // Layout rounds to whole pixels: measured large, that does not matter.
    const EM: f64 = 1000.0;
    let font = described(EM * RASTER_SIZE_PER_EM, bold);
    match font.layout_box(text) {
        Ok(((left, _), (right, _))) => f64::from(right - left) / EM * size,
        Err(_) => text.chars().count() as f64 * 0.6 * size,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sign_a_picture_uses_is_in_the_font() {
        assert!(ready());
        // A missing glyph is as wide as the replacement box.
        let missing = width("\u{4e00}", 1000.0, false);
        for sign in "azAZ09µΩ°·×…−±–—→²³₂%()αλ".chars() {
            let here = width(&sign.to_string(), 1000.0, false);
            assert!(here > 0.0 && here != missing, "{sign}");
        }
    }

    #[test]
    fn a_long_text_loses_its_end() {
        let full = "depthwise_convolution";
        let room = width(full, 12.0, false) * 0.6;
        let short = elided(full, 12.0, false, room);
        assert!(short.starts_with("depth") && short.ends_with('…'), "{short}");
        assert!(width(&short, 12.0, false) <= room);
        assert_eq!(elided(full, 12.0, false, 1.0), "");
    }
}
