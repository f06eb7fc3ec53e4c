use crate::model::{
    Cell, Convolution, ElementFunction, ElementType, Layout, ModelGraph, Movement, Op, Operator,
    Padding, Pool, PoolFunction, Recurrence, TensorRole,
};

/// What does not fit in one operator of type `native`, with its place.
fn native(layout: Layout, op: Op, native: &str, inputs: &[&[u64]], output: &[u64]) -> Vec<String> {
    let mut graph = ModelGraph::new("g", layout);
    let ids: Vec<_> = (0u64..)
        .zip(inputs)
        .map(|(i, s)| graph.add(&format!("t{i}"), s, ElementType::Int8, TensorRole::Input).unwrap())
        .map(Some)
        .collect();
    let y = graph.add("y", output, ElementType::Int8, TensorRole::Activation).unwrap();
    let operator = Operator::new("l", native, op);
    let id = graph.add_operator(operator, &ids, &[y]).unwrap();
    graph.misfits(id).iter().map(|m| format!("{}: {}", m.path(""), m.reason)).collect()
}

fn found(op: Op, inputs: &[&[u64]], output: &[u64]) -> Vec<String> {
    native(Layout::ChannelsFirst, op, "", inputs, output)
}

fn conv(change: impl Fn(&mut Convolution)) -> Op {
    let mut convolution = Convolution {
        strides: vec![2, 2],
        dilations: vec![1, 1],
        padding: Padding::Same,
        groups: 1,
        transposed: false,
    };
    change(&mut convolution);
    Op::Convolution(convolution)
}

fn one(found: Vec<String>, wanted: &str) {
    assert!(found.len() == 1 && found[0].contains(wanted), "{wanted}: {found:#?}");
}

#[test]
fn convolutions_that_agree_have_no_misfits_in_either_layout() {
    let none = |found: Vec<String>| assert_eq!(found, Vec::<String>::new());
    let explicit = |before: [u64; 2], after: [u64; 2]| {
        conv(move |c| c.padding = Padding::Explicit { before: before.into(), after: after.into() })
    };
    none(found(conv(|_| ()), &[&[1, 3, 9, 8], &[16, 3, 3, 3], &[16]], &[1, 16, 5, 4]));
    none(found(explicit([1, 0], [0, 1]), &[&[1, 3, 9, 8], &[16, 3, 3, 3]], &[1, 16, 4, 4]));
    none(found(conv(|c| c.groups = 4), &[&[2, 8, 9, 8], &[12, 2, 1, 1]], &[2, 12, 5, 4]));
    let valid = conv(|c| (c.padding, c.dilations) = (Padding::Valid, vec![3, 1]));
    none(found(valid, &[&[1, 3, 9, 8], &[16, 3, 3, 3]], &[1, 16, 2, 3]));
    let depthwise = conv(|c| c.groups = 8);
    let shapes: [&[u64]; 2] = [&[1, 9, 8, 8], &[1, 3, 3, 16]];
    none(native(Layout::ChannelsLast, depthwise, "", &shapes, &[1, 5, 4, 16]));
    let transposed = conv(|c| c.transposed = true);
    none(found(transposed.clone(), &[&[1, 8, 4, 4], &[8, 5, 3, 3]], &[1, 5, 9, 8]));
    let shapes: [&[u64]; 2] = [&[1, 4, 4, 8], &[5, 3, 3, 8]];
    none(native(Layout::ChannelsLast, transposed, "", &shapes, &[1, 8, 8, 5]));
}

#[test]
fn each_disagreement_of_a_convolution_has_its_place() {
    let (x, w, y): (&[u64], &[u64], &[u64]) = (&[1, 3, 9, 8], &[16, 3, 3, 3], &[1, 16, 5, 4]);
    one(
        found(conv(|_| ()), &[x, &[16, 2, 3, 3]], y),
        ".inputs[1]: weights 16x2x3x3 have 2 channels",
    );
    one(found(conv(|_| ()), &[x, w], &[1, 16, 5, 5]), ".outputs[0]: axis 3 of 1x16x5x5 is 5");
    one(found(conv(|_| ()), &[x, w], &[2, 16, 5, 4]), "2 samples in 2x16x5x4, but 1");
    one(found(conv(|_| ()), &[x, w, &[15]], y), ".inputs[2]: a bias of 15");
    one(found(conv(|_| ()), &[x, &[4, 12, 3, 3]], y), "do not start with the 16 channels");
    one(
        found(conv(|c| c.strides = vec![2]), &[x, w], y),
        ".op.Convolution.strides: 1 strides for 2",
    );
    one(found(conv(|c| c.dilations[1] = 0), &[x, w], y), "dilations[1]: a dilation of 0");
    one(found(conv(|c| c.groups = 0), &[x, w], y), ".op.Convolution.groups: ");
    let short = Padding::Explicit { before: vec![1], after: vec![1, 1] };
    let short = conv(|c| c.padding = short.clone());
    one(found(short, &[x, w], y), "padding.Explicit.before: 1 values of padding for 2");
    let wide = conv(|c| (c.padding, c.dilations) = (Padding::Valid, vec![9, 1]));
    one(found(wide, &[x, w], &[1, 16, 1, 3]), "axis 2 of 1x16x1x3");
    let both = found(conv(|c| c.strides[0] = 0), &[x, &[16, 2, 3, 3]], &[3, 16, 5, 4]);
    assert_eq!(both.len(), 3, "all at once: {both:#?}");
}

#[test]
fn products_agree_in_their_inner_extents_and_broadcast() {
    let matmul = |a, b| Op::MatMul { transpose_a: a, transpose_b: b };
    let none = |found: Vec<String>| assert_eq!(found, Vec::<String>::new());
    none(found(matmul(false, false), &[&[2, 1, 4, 5], &[3, 5, 6]], &[2, 3, 4, 6]));
    none(found(matmul(true, true), &[&[5, 4], &[6, 5]], &[4, 6]));
    none(found(matmul(false, false), &[&[5], &[5, 7]], &[7]));
    none(found(matmul(false, false), &[&[3, 5], &[5]], &[3]));
    one(found(matmul(false, true), &[&[4, 5], &[5, 6]], &[4, 6]), ".inputs[1]: the inner extents");
    one(found(matmul(false, false), &[&[2, 4, 5], &[3, 5, 6]], &[2, 4, 6]), "do not broadcast");
    one(found(matmul(false, false), &[&[4, 5], &[5, 6]], &[6, 4]), "makes 4x6");
    one(found(matmul(false, false), &[&[4, 5]], &[4, 6]), "second operand is missing");
    none(found(Op::FullyConnected, &[&[2, 3, 4], &[10, 12], &[10]], &[2, 10]));
    one(found(Op::FullyConnected, &[&[2, 3, 5], &[10, 12]], &[2, 10]), "has 30 elements");
    one(found(Op::FullyConnected, &[&[2, 12], &[10, 12], &[9]], &[2, 10]), "a bias of 9");
}

#[test]
fn elements_are_kept_joined_and_broadcast() {
    let none = |found: Vec<String>| assert_eq!(found, Vec::<String>::new());
    let view = Op::Movement(Movement::View);
    none(found(view.clone(), &[&[2, 6]], &[3, 4]));
    one(found(view.clone(), &[&[2, 6]], &[3, 5]), "15 elements, its input of 2x6 has 12");
    none(native(Layout::ChannelsLast, view, "SHAPE", &[&[2, 6]], &[2]));
    let joined = Op::Movement(Movement::Concatenate);
    none(found(joined.clone(), &[&[2, 6], &[2, 1]], &[2, 7]));
    one(found(joined, &[&[2, 6], &[2, 1]], &[2, 8]), "its inputs have 14 together");
    let add = Op::Elementwise(ElementFunction::Add);
    none(found(add.clone(), &[&[2, 3, 4], &[3, 1], &[]], &[2, 3, 4]));
    one(found(add.clone(), &[&[2, 3, 4], &[2, 4]], &[2, 3, 4]), ".inputs[1]: an operand of 2x4");
    one(found(add.clone(), &[&[3, 4], &[4]], &[4]), "its inputs make 3x4");
    one(found(add, &[], &[4]), "its first input is missing");
    one(found(Op::Softmax, &[&[1, 10]], &[1, 9]), "9 elements");
    one(found(Op::Convert, &[&[1, 10]], &[1, 11]), "11 elements");
}

#[test]
fn a_pooling_window_leaves_as_many_positions_as_it_takes() {
    let none = |found: Vec<String>| assert_eq!(found, Vec::<String>::new());
    let made = |kernel: &[u64], strides: &[u64]| Pool {
        kernel: kernel.to_vec(),
        strides: strides.to_vec(),
        ..Pool::whole_plane(PoolFunction::Maximum)
    };
    let pool = |kernel: &[u64], strides: &[u64]| Op::Pool(made(kernel, strides));
    let input: &[&[u64]] = &[&[1, 8, 8, 8]];
    none(found(pool(&[3, 3], &[2, 2]), input, &[1, 8, 3, 3]));
    one(found(pool(&[3, 3], &[2, 2]), input, &[1, 8, 2, 3]), "makes 3");
    let same = Op::Pool(Pool { padding: Padding::Same, ..made(&[3, 3], &[2, 2]) });
    none(found(same, input, &[1, 8, 4, 4]));
    let behind = Padding::Explicit { before: vec![0, 0], after: vec![1, 1] };
    let rounded_up = Op::Pool(Pool { padding: behind, ..made(&[3, 3], &[2, 2]) });
    none(found(rounded_up, input, &[1, 8, 4, 4]));
    let dilated = Op::Pool(Pool { dilations: vec![2, 2], ..made(&[3, 3], &[2, 2]) });
    none(found(dilated, input, &[1, 8, 2, 2]));
    let short = Padding::Explicit { before: vec![0], after: vec![1, 1] };
    let short = Op::Pool(Pool { padding: short, ..made(&[3, 3], &[2, 2]) });
    one(found(short, input, &[1, 8, 3, 3]), ".op.Pool.padding.Explicit.before: 1 values");
    one(found(pool(&[2], &[2, 2]), &[&[1, 8, 8, 8]], &[1, 8, 4, 4]), ".op.Pool.kernel: 1 extents");
    one(found(pool(&[2, 2], &[2, 0]), &[&[1, 8, 8, 8]], &[1, 8, 4, 4]), ".op.Pool.strides[1]");
    none(found(pool(&[], &[]), &[&[1, 8, 8, 8]], &[1, 8, 1, 1]));
    one(found(pool(&[], &[]), &[&[1, 8, 8, 8]], &[1, 8, 2, 1]), "over the whole plane");
    one(found(pool(&[], &[]), &[&[1, 8, 8, 8]], &[1, 9, 1, 1]), "9 channels");
}

#[test]
fn absurd_extents_are_found_out_without_overflow() {
    let huge: &[u64] = &[1, u64::MAX, u64::MAX, 2];
    for op in [
        conv(|c| (c.strides, c.padding) = (vec![1, 1], Padding::Valid)),
        conv(|c| c.dilations = vec![u64::MAX, u64::MAX]),
        Op::FullyConnected,
        Op::MatMul { transpose_a: false, transpose_b: false },
        Op::Elementwise(ElementFunction::Add),
        Op::Movement(Movement::Concatenate),
        Op::Pool(Pool {
            function: PoolFunction::Average,
            kernel: vec![u64::MAX, 1],
            strides: vec![u64::MAX, 1],
            padding: Padding::Same,
            dilations: vec![u64::MAX, 2],
        }),
        Op::Einsum("abcd,abde->abce".into()),
        Op::Recurrence(Recurrence {
            cell: Cell::Lstm,
            hidden: u64::MAX,
            steps: u64::MAX,
            directions: 2,
        }),
        Op::LocalResponseNormalisation { size: u64::MAX },
    ] {
        for output in [huge, &[0, u64::MAX, u64::MAX, 2], &[0, 0, 0, 0]] {
            for layout in [Layout::ChannelsFirst, Layout::ChannelsLast] {
                native(layout, op.clone(), "", &[huge, huge, huge], output);
                native(layout, op.clone(), "", &[output, output, output], output);
            }
        }
    }
}

#[test]
fn stored_scales_are_of_channels_or_of_innermost_elements() {
    let misfits = |layout, native: &str, stored: &[u64]| {
        let mut graph = ModelGraph::new("g", layout);
        let x = graph.add("x", &[1, 6, 8, 32], ElementType::Int8, TensorRole::Input).unwrap();
        let w = graph.add("w", stored, ElementType::Int8, TensorRole::Constant).unwrap();
        let y = graph.add("y", &[1, 6, 8, 32], ElementType::Int8, TensorRole::Activation).unwrap();
        let operator = Operator::new("l", native, Op::Normalisation);
        let id = graph.add_operator(operator, &[Some(x), Some(w)], &[y]).unwrap();
        graph.misfits(id).len()
    };
    let (first, last) = (Layout::ChannelsFirst, Layout::ChannelsLast);
    for stored in [&[32][..], &[8, 32], &[6, 8, 32], &[1], &[], &[0], &[6, 1, 1]] {
        assert_eq!(misfits(first, "", stored), 0, "{stored:?}");
    }
    assert_eq!(misfits(first, "", &[6]), 0);
    assert_eq!(misfits(last, "", &[6]), 1, "rows are no channels");
    assert_eq!(misfits(first, "", &[3, 8, 32]), 1);
    assert_eq!(misfits(first, "GroupNormalization", &[3]), 0, "one for each group");
}
