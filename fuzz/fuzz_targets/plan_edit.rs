//! Fuzzes edits, canonical form and merges of plans: any plan is edited or refused without a panic, an undo restores its
//! bytes, and the canonical form is its own canonical form.

#![no_main]

use author::{Op, Plan};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((chosen, bytes)) = data.split_first() else { return };
    let Ok(base) = Plan::read("fuzz.jmx", bytes.to_vec()) else { return };
    assert_eq!(*base.bytes(), *bytes);
    if let Ok(text) = author::layout::format(&base)
        && let Ok(plan) = Plan::read("fuzz.jmx", text.clone().into_bytes())
    {
        assert_eq!(author::layout::format(&plan), Ok(text));
    }
    let Some(element) = base.document().id(usize::from(*chosen) % base.document().len().max(1))
    else {
        return;
    };
    let (mut ours, mut theirs) = (base.clone(), base.clone());
    let _ = theirs.apply(&Op::Rename { element, name: "a\n<".to_owned() });
    let parent = base.document().element(element).parent;
    for op in [Op::Move { element, parent, index: 0 }, Op::Remove { element }] {
        if let Ok(applied) = ours.apply(&op) {
            let _ = author::merge::merge(&base, &ours, &theirs);
            ours.undo(applied.undo).expect("an undo");
            assert_eq!(ours.text(), base.text());
        }
    }
});
