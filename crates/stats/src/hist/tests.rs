use hdrhistogram::Histogram;
use proptest::prelude::*;

use super::growing::sort;
use super::*;

fn bins(values: &[u64]) -> Bins {
    let mut indices: Vec<u32> = values.iter().map(|v| layout::index_of(*v)).collect();
    indices.sort_unstable();
    let mut bins = Bins::default();
    for same in indices.chunk_by(|a, b| a == b) {
        bins.push(same[0], same.len() as u64);
    }
    bins
}

/// Generates values of all magnitudes.
fn value() -> impl Strategy<Value = u64> {
    (0u32..36, any::<u64>()).prop_map(|(bits, raw)| raw & ((2 << bits) - 1))
}

proptest! {
    #[test]
    fn a_bin_holds_its_values_and_is_narrow(v in value()) {
        let bin = layout::index_of(v);
        prop_assert!(layout::lowest_of(bin) <= v && v <= layout::highest_of(bin));
        let width = layout::highest_of(bin) - layout::lowest_of(bin);
        prop_assert!(width * 1000 <= v);
    }

    #[test]
    fn quantiles_are_hdr_histograms(
        values in prop::collection::vec(value(), 1..300),
        quantile in 0.0f64..=1.0,
    ) {
        let mut oracle = Histogram::<u64>::new_with_bounds(1, layout::MAX_VALUE, 3).unwrap();
        let mut hist = Hist::new();
        for &v in &values {
            oracle.record(v).unwrap();
            hist.record(v, 1);
        }
        prop_assert_eq!(hist.total(), values.len() as u64);
        prop_assert_eq!(hist.quantile(quantile), oracle.value_at_quantile(quantile));
        prop_assert!((hist.mean() - oracle.mean()).abs() <= oracle.mean() * 1e-9 + 1e-9);
    }

    #[test]
    fn quantile_of_the_merged_is_quantile_of_the_union(
        a in prop::collection::vec(value(), 0..100),
        b in prop::collection::vec(value(), 0..100),
        quantile in 0.0f64..=1.0,
    ) {
        let (mut one, mut two, mut union) = (Hist::new(), Hist::new(), Hist::new());
        one.add(&bins(&a));
        two.add(&bins(&b));
        one.merge(&two);
        for v in a.iter().chain(&b) {
            union.record(*v, 1);
        }
        prop_assert_eq!(one.quantile(quantile), union.quantile(quantile));
        prop_assert!(one.iter().eq(union.iter()));
        let mut list = bins(&a);
        list.merge(&bins(&b));
        prop_assert_eq!(list.quantile(quantile), union.quantile(quantile));
    }

    #[test]
    fn merging_bins_is_counting_together(
        a in prop::collection::vec(value(), 0..100),
        b in prop::collection::vec(value(), 0..100),
    ) {
        let mut merged = bins(&a);
        merged.merge(&bins(&b));
        prop_assert_eq!(merged, bins(&[a, b].concat()));
    }

    #[test]
    fn bins_are_put_in_order(
        bins in prop::collection::vec((0u64..70_000, any::<u32>()), 0..300),
        all_low in any::<bool>(),
    ) {
        let packed = |(bin, n): (u64, u32)| (if all_low { bin & 0xffff } else { bin }) << 32 | u64::from(n);
        let mut sorted: Vec<u64> = bins.into_iter().map(packed).collect();
        let mut expected = sorted.clone();
        sort(&mut sorted);
        prop_assert!(sorted.is_sorted_by_key(|bin| bin >> 32));
        sorted.sort_unstable();
        expected.sort_unstable();
        prop_assert_eq!(sorted, expected);
    }

    #[test]
    fn many_additions_of_few_bins_are_counting_together(
        first in prop::collection::vec(value(), 0..300),
        few in prop::collection::vec(prop::collection::vec(value(), 0..4), 0..600),
        read_at in 0usize..600,
        last in prop::collection::vec(value(), 0..100),
    ) {
        let (mut merged, mut all) = (bins(&first), first);
        for (at, one) in few.into_iter().enumerate() {
            merged.merge(&bins(&one));
            all.extend(one);
            if at == read_at {
                // An unsettled list must read the same as after settling.
                prop_assert_eq!(&merged, &bins(&all));
                prop_assert_eq!(merged.len(), bins(&all).len());
            }
        }
        let mut large = Bins::default();
        large.add(layout::BINS / 2, u64::from(u32::MAX) + 5);
        let mut both = merged.clone();
        both.merge(&large);
        both.merge(&large);
        let total = merged.total() + 2 * (u64::from(u32::MAX) + 5);
        prop_assert_eq!(both.total(), total);
        let mut settled = merged.clone();
        settled.settle();
        prop_assert_eq!(&merged, &settled);
        prop_assert_eq!(&settled, &bins(&all));
        merged.merge(&bins(&last));
        all.extend(last);
        prop_assert_eq!(&merged, &bins(&all));
        let mut packed = merged.clone();
        packed.shrink();
        prop_assert_eq!(&packed, &bins(&all));
        merged.clear();
        prop_assert!(merged.is_empty());
    }

    #[test]
    fn packed_bins_are_the_same_bins(
        a in prop::collection::vec((0u32..layout::BINS, 1u64..), 0..100),
        b in prop::collection::vec(value(), 0..100),
    ) {
        let mut list = Bins::default();
        for (bin, count) in a {
            list.add(bin, count);
        }
        let mut packed = list.clone();
        packed.shrink();
        prop_assert_eq!(&packed, &list);
        prop_assert_eq!((packed.len(), packed.total()), (list.len(), list.total()));
        prop_assert_eq!(packed.is_empty(), list.is_empty());
        prop_assert_eq!(serde_json::to_string(&packed).unwrap(), serde_json::to_string(&list).unwrap());
        // An addition unpacks the list, and a packed list can be merged into others.
        let mut sum = bins(&b);
        sum.merge(&packed);
        packed.merge(&bins(&b));
        prop_assert_eq!(&packed, &sum);
        packed.shrink();
        packed.clear();
        prop_assert!(packed.is_empty() && packed.iter().len() == 0);
    }

    #[test]
    fn percent_point_is_a_sorted_lists_rank(
        mut values in prop::collection::vec(0u32..40_000, 1..200),
        percent in 0.0f64..1.0,
    ) {
        let mut exact = Exact::new();
        for v in &values {
            exact.record(*v, 1);
        }
        values.sort_unstable();
        let rank = (values.len() as f64 * percent + 0.5).floor() as usize;
        let expected = values[rank.max(1) - 1];
        prop_assert_eq!(exact.percent_point(percent), u64::from(expected));
    }
}

#[test]
fn values_beyond_the_range_fall_into_the_last_bin() {
    assert_eq!(layout::index_of(u64::MAX), layout::BINS - 1);
    assert_eq!(layout::highest_of(layout::BINS - 1), layout::MAX_VALUE);
}

#[test]
fn bins_follow_each_other_without_gap() {
    for bin in 1..layout::BINS {
        assert_eq!(layout::lowest_of(bin), layout::highest_of(bin - 1) + 1, "bin {bin}");
        assert_eq!(layout::index_of(layout::lowest_of(bin)), bin);
    }
}

#[test]
fn percent_point_at_the_edges() {
    let mut exact = Exact::new();
    assert_eq!(exact.percent_point(0.5), 0);
    for ms in [10, 20, 30, 20_000] {
        exact.record(ms, 1);
    }
    assert_eq!(exact.percent_point(0.0), 10);
    // Rank 4 × 0.625 + 0.5 = 3: half is rounded up.
    assert_eq!(exact.percent_point(0.625), 30);
    assert_eq!(exact.percent_point(1.0), 20_000);
}

#[test]
fn a_cleared_histogram_is_empty() {
    let mut hist = Hist::new();
    hist.record(5, 3);
    hist.clear();
    assert_eq!((hist.total(), hist.quantile(0.5), hist.iter().count()), (0, 0, 0));
}

#[test]
fn the_packed_form_is_taken_as_it_is() {
    let mut bins = Bins::default();
    for (bin, count) in [(0, 1), (1, 300), (700, 1), (layout::BINS - 1, u64::MAX)] {
        bins.add(bin, count);
    }
    assert_eq!(bins.packed(), None);
    let list = bins.clone();
    bins.shrink();
    let bytes = [bins.packed().expect("packed"), &[9, 9]].concat();
    let mut rest = &bytes[..];
    let taken = Bins::take_packed(&mut rest).expect("a list");
    assert_eq!((&taken, taken.packed(), rest), (&list, bins.packed(), &[9, 9][..]));
    let mut sum = Bins::default();
    sum.merge(&taken);
    assert!(sum.packed().is_some(), "a copy");
    sum.merge(&taken);
    assert_eq!(sum.iter().next(), Some((0, 2)));
    let mut rest = &[0, 5][..];
    assert!(Bins::take_packed(&mut rest).is_some_and(|bins| bins.is_empty()) && rest == [5]);
}

#[test]
fn what_is_no_packed_form_is_passed_over() {
    let above = layout::BINS << 1;
    let above = [1, above as u8 | 0x80, (above >> 7) as u8 | 0x80, (above >> 14) as u8];
    let endless = [[1].as_slice(), &[0xff; 11]].concat();
    for (bytes, left) in [
        (&[][..], 0),
        // The same bin twice; a count of 0; fewer bins than announced; a number without an end.
        (&[2, 10, 0, 7], 1),
        (&[1, 11, 0, 7], 1),
        (&[9, 10], 0),
        (&[1, 0xff], 0),
        (&above, 0),
        (&endless, 0),
    ] {
        let mut rest = bytes;
        assert_eq!(Bins::take_packed(&mut rest), None, "{bytes:?}");
        assert!(rest.len() <= left.max(1), "{bytes:?}");
    }
}

#[test]
fn a_histogram_without_what_was_added_last_is_that_of_before() {
    for count in [3, 50, 400] {
        let values: Vec<u64> = (0..count).map(|n| n * n * 37 % 90_000).collect();
        let (before, last) = values.split_at(values.len() / 2);
        let (mut both, mut expected) = (Hist::new(), Hist::new());
        both.add(&bins(before));
        both.add(&bins(last));
        expected.add(&bins(before));
        both.subtract(&bins(last));
        assert_eq!(both.total(), expected.total());
        assert!(both.iter().eq(expected.iter()), "{count}");
        both.add(&bins(last));
        both.subtract(&bins(&values));
        assert_eq!((both.total(), both.iter().next()), (0, None));
    }
}
