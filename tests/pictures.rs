//! What a run leaves for people to look at.

use crate::command_line::joulecast;

#[test]
fn pictures_need_no_fonts_of_the_system_and_name_the_layers() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("run");
    let output =
        joulecast(&["run", "kws_ds_cnn", "--on", "stm32l4r5", "--out", out.to_str().unwrap()]);
    assert!(output.status.success());
    let png = std::fs::read(out.join("power.png")).unwrap();
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    let svg = std::fs::read_to_string(out.join("power.svg")).unwrap();
    for text in ["conv_2d_0", "power (mW)", "time (ms)", "ldo_loss", "indicative"] {
        assert!(svg.contains(text), "{text}");
    }
    for file in ["power.csv", "spans.csv", "trace.perfetto-trace", "metrics.json", "report.txt"] {
        assert!(out.join(file).metadata().unwrap().len() > 0, "{file}");
    }
}
