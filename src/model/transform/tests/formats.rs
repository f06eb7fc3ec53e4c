use super::*;

/// A float graph of two convolutions, each between conversions from and to 8 bits.
fn quantised() -> ModelGraph {
    let mut chain = Chain::new(PLANE, E::Float32);
    for name in ["a", "b"] {
        for (step, element) in [("q", E::Int8), ("dq", E::Float32)] {
            chain = chain.then(&format!("{name}_{step}"), Op::Convert, &[], PLANE);
            chain.graph.tensor_mut(chain.last).element = element;
        }
        chain = chain.then(name, conv(1), &[FILTERS], PLANE);
    }
    chain.graph
}

#[test]
fn one_layer_of_a_quantised_file_reads_what_was_quantised() {
    let made = one(&quantised(), to(E::Int8, Some("a")));
    assert_eq!(names(&made), ["a_q", "a", "b_dq", "b"]);
    let element = |name: &str| made.tensor(made.tensor_named(name).unwrap()).element;
    assert_eq!(
        [element("a_y"), element("b_dq_y"), element("b_y")],
        [E::Int8, E::Float32, E::Float32]
    );
    let said = made.transforms[0].changed.join("; ");
    assert!(said.contains("2 conversions that change nothing left out"), "{said}");
    assert!(!said.contains("added"), "{said}");
}

#[test]
fn a_result_is_handed_out_as_it_was() {
    let made = one(&quantised(), to(E::Int8, Some("b")));
    assert_eq!(names(&made), ["a_q", "a_dq", "a", "b_q", "b", "b_y/to_Float32"]);
    let whole = one(&quantised(), to(E::Int8, None));
    assert_eq!(names(&whole), ["a", "b"]);
}
