use super::*;
use crate::model::{
    Cell, Convolution, ElementFunction, Movement, Padding, Pool, PoolFunction, Recurrence,
    Reduction,
};

fn made(layout: Layout, op: &Op, inputs: &[&[u64]]) -> Result<Option<Vec<u64>>, String> {
    let shapes: Vec<_> = inputs.iter().map(|s| Shape(s.to_vec())).collect();
    let inputs: Vec<_> = shapes.iter().map(Some).collect();
    Ok(infer(op, layout, &inputs)?.map(|shape| shape.0))
}

fn is(layout: Layout, op: &Op, inputs: &[&[u64]], expected: &[u64]) {
    assert_eq!(made(layout, op, inputs), Ok(Some(expected.to_vec())), "{op:?} of {inputs:?}");
}

const FIRST: Layout = Layout::ChannelsFirst;
const LAST: Layout = Layout::ChannelsLast;

fn conv(change: impl Fn(&mut Convolution)) -> Op {
    let mut c = Convolution {
        strides: vec![2, 2],
        dilations: vec![1, 1],
        padding: Padding::Same,
        groups: 1,
        transposed: false,
    };
    change(&mut c);
    Op::Convolution(c)
}

#[test]
fn a_convolution_makes_the_same_shape_in_both_layouts() {
    is(LAST, &conv(|_| ()), &[&[1, 9, 8, 3], &[16, 3, 3, 3]], &[1, 5, 4, 16]);
    is(FIRST, &conv(|_| ()), &[&[1, 3, 9, 8], &[16, 3, 3, 3], &[16]], &[1, 16, 5, 4]);
    is(FIRST, &conv(|c| c.groups = 4), &[&[2, 8, 9, 8], &[12, 2, 1, 1]], &[2, 12, 5, 4]);
    let valid = conv(|c| (c.padding, c.dilations) = (Padding::Valid, vec![3, 1]));
    is(FIRST, &valid, &[&[1, 3, 9, 8], &[16, 3, 3, 3]], &[1, 16, 2, 3]);
    let explicit = Padding::Explicit { before: vec![1, 0], after: vec![0, 1] };
    let explicit = conv(|c| c.padding = explicit.clone());
    is(FIRST, &explicit, &[&[1, 3, 9, 8], &[16, 3, 3, 3]], &[1, 16, 4, 4]);
}

#[test]
fn depthwise_filters_may_be_stored_in_one_block() {
    is(LAST, &conv(|c| c.groups = 8), &[&[1, 9, 8, 8], &[1, 3, 3, 16]], &[1, 5, 4, 16]);
    is(LAST, &conv(|c| c.groups = 8), &[&[1, 9, 8, 8], &[8, 3, 3, 1]], &[1, 5, 4, 8]);
    is(LAST, &conv(|_| ()), &[&[1, 9, 8, 1], &[1, 3, 3, 4]], &[1, 5, 4, 4]);
    is(LAST, &conv(|_| ()), &[&[1, 9, 8, 4], &[1, 3, 3, 4]], &[1, 5, 4, 1]);
}

#[test]
fn a_transposed_convolution_spreads() {
    let transposed =
        |padding: Padding| conv(move |c| (c.transposed, c.padding) = (true, padding.clone()));
    let same = transposed(Padding::Same);
    is(LAST, &same, &[&[1, 4, 4, 8], &[5, 3, 3, 8]], &[1, 8, 8, 5]);
    let valid = transposed(Padding::Valid);
    is(FIRST, &valid, &[&[1, 8, 4, 4], &[8, 5, 3, 3]], &[1, 5, 9, 9]);
    let cut = transposed(Padding::Explicit { before: vec![1, 1], after: vec![1, 1] });
    is(FIRST, &cut, &[&[1, 8, 4, 4], &[8, 5, 4, 4]], &[1, 5, 8, 8]);
}

#[test]
fn products_keep_their_leading_axes() {
    let fc = Op::FullyConnected;
    is(LAST, &fc, &[&[2, 7, 12], &[10, 12]], &[2, 7, 10]);
    is(LAST, &fc, &[&[2, 12], &[12, 10]], &[2, 10]);
    is(LAST, &fc, &[&[2, 3, 4], &[10, 12], &[10]], &[2, 10]);
    let matmul = |a, b| Op::MatMul { transpose_a: a, transpose_b: b };
    is(LAST, &matmul(false, false), &[&[2, 1, 4, 5], &[3, 5, 6]], &[2, 3, 4, 6]);
    is(LAST, &matmul(true, true), &[&[5, 4], &[6, 5]], &[4, 6]);
    is(LAST, &matmul(false, false), &[&[5], &[5, 7]], &[7]);
    let equation = Op::Einsum("bhid,bhjd->bhij".into());
    is(LAST, &equation, &[&[2, 3, 5, 7], &[2, 3, 11, 7]], &[2, 3, 5, 11]);
    let lstm = |directions| {
        Op::Recurrence(Recurrence { cell: Cell::Lstm, hidden: 6, steps: 9, directions })
    };
    is(LAST, &lstm(1), &[&[9, 2, 24], &[24, 6]], &[9, 2, 6]);
    is(LAST, &lstm(2), &[&[9, 2, 48], &[48, 6]], &[9, 2, 12]);
    is(LAST, &lstm(2), &[&[9, 2, 1, 24], &[48, 6]], &[9, 2, 1, 6]);
}

#[test]
fn windows_reduce_and_elements_broadcast() {
    let whole = Op::Pool(Pool::whole_plane(PoolFunction::Average));
    is(LAST, &whole, &[&[1, 7, 5, 8]], &[1, 1, 1, 8]);
    is(FIRST, &whole, &[&[1, 8, 7, 5]], &[1, 8, 1, 1]);
    let (kernel, strides) = (vec![3, 2], vec![2, 2]);
    let pool = Op::Pool(Pool { kernel, strides, ..Pool::whole_plane(PoolFunction::Maximum) });
    is(LAST, &pool, &[&[1, 7, 5, 8]], &[1, 3, 2, 8]);
    let add = Op::Elementwise(ElementFunction::Add);
    is(LAST, &add, &[&[2, 3, 4], &[3, 1], &[]], &[2, 3, 4]);
    is(LAST, &Op::Softmax, &[&[1, 10]], &[1, 10]);
    is(LAST, &Op::BatchNormalisation, &[&[1, 4, 4, 8], &[8], &[8]], &[1, 4, 4, 8]);
}

#[test]
fn what_the_operator_does_not_determine_stays_open() {
    for op in [
        Op::Movement(Movement::View),
        Op::Movement(Movement::Gather),
        Op::Reduce(Reduction::Mean),
        Op::Opaque,
    ] {
        assert_eq!(made(LAST, &op, &[&[4, 4], &[2]]), Ok(None), "{op:?}");
    }
    let a = Shape(vec![4, 4]);
    let unknown = |op: &Op| infer(op, LAST, &[Some(&a), None]);
    assert_eq!(unknown(&Op::FullyConnected), Ok(None));
    assert_eq!(unknown(&Op::Elementwise(ElementFunction::Add)), Ok(None));
    assert_eq!(infer(&Op::Elementwise(ElementFunction::Add), LAST, &[]), Ok(None));
}

#[test]
fn what_does_not_fit_is_an_error_and_never_a_panic() {
    let matmul = Op::MatMul { transpose_a: false, transpose_b: false };
    let huge = u64::MAX;
    let add = Op::Elementwise(ElementFunction::Add);
    let recurrence = Recurrence { cell: Cell::Gru, hidden: huge, steps: 0, directions: 0 };
    let cases: [(Op, &[&[u64]]); 12] = [
        (conv(|_| ()), &[&[1, 9, 8, 3], &[16, 3, 3, 4]]),
        (conv(|_| ()), &[&[9, 8], &[16, 3]]),
        (conv(|c| c.strides = vec![1]), &[&[1, 9, 8, 3], &[16, 3, 3, 3]]),
        (conv(|c| c.strides[0] = 0), &[&[1, 9, 8, 3], &[16, 3, 3, 3]]),
        (conv(|c| c.groups = 0), &[&[1, 9, 8, 3], &[16, 3, 3, 3]]),
        (conv(|c| c.padding = Padding::Valid), &[&[1, 2, 2, 3], &[16, 3, 3, 3]]),
        (conv(|c| c.transposed = true), &[&[1, huge, 1, 3], &[16, 3, 3, 3]]),
        (Op::FullyConnected, &[&[2, 5], &[10, 12]]),
        (matmul, &[&[4, 5], &[6, 5]]),
        (Op::Einsum("ij,jk->ik".into()), &[&[2, 3], &[4, 5]]),
        (add, &[&[2, 3, 4], &[2, 4]]),
        (Op::Recurrence(recurrence), &[&[0, huge], &[1]]),
    ];
    for (op, inputs) in cases {
        assert!(made(LAST, &op, inputs).is_err(), "{op:?} of {inputs:?}");
    }
    let scalars: [&[u64]; 2] = [&[], &[]];
    assert!(made(LAST, &Op::FullyConnected, &scalars).is_ok_and(|shape| shape.is_some()));
}
