//! What the tests of readers of logs have in common.

use super::{Format, FormatError, Head, Input, Options, Shape, recognised};
use crate::trace::{Readings, SpanKind};

/// Reads a text as a format.
pub(super) fn read_text(format: &Format, text: &str) -> Result<Readings, FormatError> {
    read_with(format, text, &Options::default())
}

/// Reads a text as a format, with options.
pub(super) fn read_with(
    format: &Format,
    text: &str,
    options: &Options,
) -> Result<Readings, FormatError> {
    let Shape::File { read, .. } = format.shape else { panic!("{} is a folder", format.name) };
    let mut readings = Readings::default();
    read(&mut Input::of("log", text.as_bytes()), options, &mut readings)?;
    Ok(readings)
}

/// The name of the format that a text is recognised as.
pub(super) fn name_of(text: &str) -> Option<&'static str> {
    let head = Head::of(&mut Input::of("log", text.as_bytes())).unwrap();
    recognised(&head).map(|format| format.name)
}

/// What an error says.
pub(super) fn fault(format: &Format, text: &str) -> String {
    read_text(format, text).map(|_| ()).unwrap_err().to_string()
}

/// However a text is cut: one error of one line, or a reading whose samples are a beginning of
/// those of the whole.
pub(super) fn cuts_are_honest(format: &Format, text: &str, options: &Options) {
    let whole = read_with(format, text, options).unwrap();
    changes_do_not_panic(format, text, options);
    for cut in (0..text.len()).filter(|cut| text.is_char_boundary(*cut)) {
        match read_with(format, &text[..cut], options) {
            Err(error) => assert!(!error.to_string().is_empty()),
            Ok(part) => {
                for channel in part.layout.channels.iter() {
                    assert!(whole.layout.channels.contains(channel), "{cut}: {channel:?}");
                }
                let layers =
                    |r: &Readings| r.spans.iter().filter(|s| s.kind == SpanKind::Layer).count();
                assert!(layers(&part) <= layers(&whole));
                for (series, channel) in part.series.iter().zip(&part.layout.channels) {
                    let at = whole.layout.channels.iter().position(|c| c == channel).unwrap();
                    let all = whole.series[at].values();
                    let few = series.values();
                    let same = few.iter().zip(all).all(|(a, b)| a == b || a.is_nan() && b.is_nan());
                    assert!(few.len() <= all.len() && same, "{cut}: {few:?} of {all:?}");
                }
            }
        }
    }
}

/// Whatever stands in place of any one byte: a reading or an error.
pub(super) fn changes_do_not_panic(format: &Format, text: &str, options: &Options) {
    for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
        let rest = text[at..].chars().next().map_or("", |c| &text[at + c.len_utf8()..]);
        for other in ["", "9", "-", ",", ".", "\n", "x", "\"", " ", "e9", "[", ")", "%", "@", "/"] {
            let _ = read_with(format, &format!("{}{other}{rest}", &text[..at]), options);
        }
    }
}

/// The values of the channel of a name.
pub(super) fn values<'a>(readings: &'a Readings, name: &str) -> &'a [f64] {
    let names = || readings.layout.channels.iter().map(|c| c.name.as_str()).collect::<Vec<_>>();
    let at = readings.layout.channels.iter().position(|channel| channel.name == name);
    readings.series[at.unwrap_or_else(|| panic!("no {name} in {:?}", names()))].values()
}

/// Segments of a channel, in seconds.
pub(super) fn segments(readings: &Readings, name: &str) -> Vec<(f64, f64, f64)> {
    let at = readings.layout.channels.iter().position(|channel| channel.name == name).unwrap();
    let seconds = |segment: (crate::units::SimTime, crate::units::SimTime, f64)| {
        (segment.0.seconds().0, segment.1.seconds().0, segment.2)
    };
    readings.series[at].segments().map(seconds).collect()
}

/// True where a remark has these words.
pub(super) fn says(readings: &Readings, words: &str) -> bool {
    readings.layout.remarks.iter().any(|remark| remark.contains(words))
}
