use super::super::{Head, open, recognised};
use super::*;
use crate::trace::Readings;
use crate::units::{Joules, Volts};

fn trace(samples: &[f32]) -> Vec<u8> {
    let mut bytes = vec![0xf1];
    bytes.extend(1000f32.to_le_bytes());
    bytes.extend(samples.iter().flat_map(|s| s.to_le_bytes()));
    bytes
}

fn read_bytes(bytes: &[u8]) -> Result<Readings, FormatError> {
    let mut readings = Readings::default();
    let Shape::File { read, .. } = TRACE.shape else { unreachable!() };
    read(&mut Input::of("t", bytes), &Options::default(), &mut readings)?;
    Ok(readings)
}

#[test]
fn samples_are_microjoule_and_what_is_no_number_stays_a_gap() {
    let readings = read_bytes(&trace(&[40.0, f32::NAN, 0.0])).unwrap();
    let values = readings.series[0].values();
    assert!((values[0] - 40e-3).abs() < 1e-12);
    assert!(values[1].is_nan());
    assert_eq!(values[2], 0.0);
    assert_eq!(readings.end, SimTime(3_000_000_000));
}

#[test]
fn a_trace_is_recognised_and_a_cut_or_foreign_one_is_one_error() {
    let whole = trace(&[1.0, 2.0]);
    let head = Head::of(&mut Input::of("t", &whole)).unwrap();
    assert_eq!(recognised(&head).map(|f| f.name), Some(TRACE.name));
    for cut in 0..whole.len() {
        let result = read_bytes(&whole[..cut]);
        let complete = cut == 9;
        assert_eq!(result.is_ok(), complete, "{cut}");
        if let Err(error) = result {
            assert!(!error.to_string().contains('\n'), "{error}");
        }
    }
    let error = read_bytes(b"\xf1\0\0\0\0\0\0\0\0").unwrap_err().to_string();
    assert!(error.contains("expected the byte f1 and a float32 sample rate"), "{error}");
}

#[test]
fn a_folder_brings_edges_log_and_published_energies() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    write("trace1-energy.bin", &trace(&[40.0; 10]));
    write("trace1-timestamps.json", b"[0.001, 0.003, 0.007]");
    write("log.txt", b"00001.500 io: [dut]: m-infer-start-2\nnoise\n00001.600 parser: m-ready\n00002.000 emon: m-voltage-mv[1800]\n");
    write("results.txt", b"00003.000 ulp-ml:   Energy/Inf.  :     7372.426 uJ/inf.\n00003.000 ulp-ml: Median energy cost is 7373.704 uJ/inf.\n00003.000 ulp-ml:   # Inferences :          100\n");
    let opened = open(folder.path()).unwrap();
    assert_eq!(opened.format.name, "energyrunner");
    let mut readings = Readings::default();
    opened.read(&Options::default(), &mut readings).unwrap();
    let edges: Vec<_> = readings.edges.iter().map(|e| e.at.0 / 1_000_000_000).collect();
    assert_eq!(edges, [1, 3, 7]);
    let marks: Vec<_> =
        readings.marks.iter().map(|m| (m.track.as_str(), m.name.as_str())).collect();
    assert_eq!(marks, [("dut", "m-infer-start-2"), ("emon", "m-voltage-mv[1800]")]);
    assert_eq!(readings.layout.supply, Some(Volts(1.8)));
    let run = readings.layout.run.unwrap();
    assert_eq!(run.inferences_per_window, Some(100));
    assert_eq!(run.by_window, [Joules(7372.426 * 1e-6)]);
    assert_eq!(run.energy_per_inference, Some(Joules(7373.704 * 1e-6)));
}

#[test]
fn time_stamps_that_run_backwards_are_told() {
    let stamps = |text: &str| time_stamps(&mut Input::of("s", text.as_bytes()));
    assert_eq!(stamps("[0.5, 1.25]").unwrap().len(), 2);
    let error = stamps("[0.5, 0.5]").unwrap_err().to_string();
    assert!(error.contains("time runs backwards"), "{error}");
    assert!(stamps("[-1]").is_err());
    assert!(stamps("[1e9]").is_err());
    assert!(stamps("[0.1, \"x\"]").unwrap_err().to_string().starts_with("s:1: not the JSON"));
}

#[test]
fn a_trial_has_its_window_between_its_last_two_stamps() {
    let json = br#"[{"infer": {"iterations": 70}, "power": {"samples": [1e-5, 2e-5, NaN, 4e-5],
        "timestamps": [["00", 0], ["01", 1], ["02", 3]], "voltage": 3}},
        {"infer": {"iterations": 70}, "power": {"samples": [1e-5], "timestamps": [["03", 1]]}}]"#;
    let head = Head::of(&mut Input::of("t", json)).unwrap();
    assert_eq!(recognised(&head).map(|f| f.name), Some(PYTHON.name));
    let mut readings = Readings::default();
    python::read(&mut Input::of("r", json), None, &mut readings).unwrap();
    let windows: Vec<_> = readings
        .spans
        .iter()
        .map(|s| (s.start.0 / 1_000_000_000, s.end.0 / 1_000_000_000))
        .collect();
    assert_eq!(windows, [(1, 3)]);
    assert!((readings.series[0].values()[1] - 20e-3).abs() < 1e-15);
    assert_eq!(readings.series[0].blocks().count(), 2);
    assert!(readings.layout.remarks.iter().any(|r| r.contains("trial 1 has 1 of two")));
    assert_eq!(readings.layout.run.unwrap().inferences_per_window, Some(70));
}
