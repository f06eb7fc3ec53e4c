//! Colours, light and dark.
//!
//! Series take the Okabe-Ito palette (Okabe and Ito, "Color universal design", 2008), which people
//! with any common colour vision tell apart; losses are grey.

use super::scene::Ink;

/// The colours of one picture.
#[derive(Debug, Clone, Copy)]
pub(super) struct Theme {
    pub paper: Ink,
    pub text: Ink,
    /// Of what matters less: subtitles, tick labels.
    pub quiet: Ink,
    pub frame: Ink,
    pub gridline: Ink,
    /// Behind every other layer.
    pub shade: Ink,
    pub total: Ink,
    pub idle: Ink,
    pub transition: Ink,
    pub inference: Ink,
    pub layer: Ink,
    /// A domain that is on.
    pub on: Ink,
}

pub(super) const LIGHT: Theme = Theme {
    paper: Ink::solid((255, 255, 255)),
    text: Ink::solid((28, 30, 34)),
    quiet: Ink::solid((92, 97, 105)),
    frame: Ink::solid((130, 136, 145)),
    gridline: Ink::solid((222, 225, 230)),
    shade: Ink::solid((241, 243, 246)),
    total: Ink::solid((20, 22, 26)),
    idle: Ink::solid((214, 218, 224)),
    transition: Ink::solid((213, 94, 0)),
    inference: Ink::solid((150, 184, 214)),
    layer: Ink::solid((186, 196, 208)),
    on: Ink::solid((140, 196, 176)),
};

pub(super) const DARK: Theme = Theme {
    paper: Ink::solid((24, 26, 31)),
    text: Ink::solid((232, 234, 238)),
    quiet: Ink::solid((163, 169, 179)),
    frame: Ink::solid((110, 116, 126)),
    gridline: Ink::solid((52, 56, 64)),
    shade: Ink::solid((33, 36, 42)),
    total: Ink::solid((245, 246, 248)),
    idle: Ink::solid((66, 71, 80)),
    transition: Ink::solid((225, 116, 30)),
    inference: Ink::solid((63, 98, 130)),
    layer: Ink::solid((78, 88, 101)),
    on: Ink::solid((52, 112, 94)),
};

/// Okabe-Ito without black, the calm ones first.
const SERIES: [(u8, u8, u8); 7] = [
    (0, 114, 178),
    (230, 159, 0),
    (0, 158, 115),
    (204, 121, 167),
    (86, 180, 233),
    (213, 94, 0),
    (240, 228, 66),
];

/// Muted, for phases of a layer.
const PHASES: [(u8, u8, u8); 6] =
    [(204, 121, 167), (86, 180, 233), (0, 158, 115), (230, 159, 0), (0, 114, 178), (240, 228, 66)];

/// The colour of the load number `at`; every round over the palette is a shade lighter.
pub(super) fn load(at: usize, theme: &Theme) -> Ink {
    picked(&SERIES, at, theme)
}

/// The colour of loads that are drawn as one.
pub(super) fn others(theme: &Theme) -> Ink {
    theme.frame.mixed(theme.paper, 0.78)
}

/// The colour of the phase number `at`.
pub(super) fn phase(at: usize, theme: &Theme) -> Ink {
    picked(&PHASES, at, theme).mixed(theme.paper, 0.35)
}

/// The grey of the regulator number `at`.
pub(super) fn loss(at: usize, theme: &Theme) -> Ink {
    let lighter = [0.6, 0.45, 0.72, 0.3][at % 4];
    theme.frame.mixed(theme.paper, lighter)
}

fn picked(palette: &[(u8, u8, u8)], at: usize, theme: &Theme) -> Ink {
    let base = palette.get(at % palette.len()).copied().map_or(theme.frame, Ink::solid);
    let round = (at / palette.len()).min(3) as f64;
    base.mixed(theme.paper, 0.3 * round)
}
