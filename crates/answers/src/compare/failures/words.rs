//! Sentences about the failures of two sides.

use stats::grouped::{count, things};

use super::{CHANCE, Counted, Failures};
use crate::evidence::failed;
use crate::rules::clock;
use crate::verdict::Words;

impl Failures {
    /// Returns a description of the failures of the side with the larger share, with their time, and of the
    /// failures of the other side.
    pub fn words(&self) -> Words {
        let more = usize::from(self.change >= 0.0);
        let names = ["A", "B"];
        let ((all, errors), (of, other)) = (self.sides[more], self.sides[1 - more]);
        let Words { en, zh } = match self.counted {
            Counted::Failed => failed(errors, all),
            Counted::Unexpected => unexpected(errors, all),
        };
        let (name, less) = (names[more], names[1 - more]);
        let (none, none_zh) = (
            format!(
                "{less}: {} of {}",
                if other == 0 { "none".into() } else { count(other) },
                count(of)
            ),
            format!("{less}：{} 个中 {} 个", count(of), count(other)),
        );
        let (runs, runs_zh) = if self.is_single {
            ("the whole run", "整个运行")
        } else {
            ("all runs", "全部运行")
        };
        let (when, when_zh) = self.when();
        Words {
            en: format!("{name}: {en} in {runs}{when}; {none}"),
            zh: format!("{name}：{runs_zh}中{zh}{when_zh}；{none_zh}"),
        }
    }

    /// Describes the failures, followed by the reason why they do not show a difference.
    pub fn undecided(&self) -> Words {
        let Words { en, zh } = self.words();
        let (why, why_zh) = match (self.short_events, self.p) {
            (Some(1), _) => (
                "one event cannot tell a difference from chance".to_owned(),
                "单次事件无法区分差异与偶然".to_owned(),
            ),
            (_, p) if p >= 0.05 => (
                "equal sides differ as much by chance".to_owned(),
                "相同的双方也会因偶然有如此差异".to_owned(),
            ),
            (_, p) => {
                let pairs = count((1.0 / p).round() as u64);
                let least = count((1.0 / CHANCE).round() as u64);
                (
                    format!(
                        "equal sides differ as much in 1 of {pairs} pairs, and only 1 of {least} would decide"
                    ),
                    format!(
                        "相同的双方每 {pairs} 对有 1 对出现如此差异，达到 {least} 对 1 对才能判定"
                    ),
                )
            }
        };
        Words {
            en: format!("{en}; {why}: run longer, or repeat the runs"),
            zh: format!("{zh}；{why_zh}：请延长或重复运行"),
        }
    }

    fn when(&self) -> (String, String) {
        let (part, part_zh) = if self.is_all {
            ("all of them", "全部")
        } else {
            ("nearly all of them", "几乎全部")
        };
        if let Some(events) = self.short_events.filter(|events| *events > 1) {
            let n = things(events as u64, "short event");
            return (
                format!(", {part} in {n}"),
                format!("，{part_zh}发生在 {events} 次短暂事件中"),
            );
        }
        let Some((from, to)) = self.event_ms else { return Default::default() };
        // The recorded seconds of a run end some milliseconds early or late.
        let (from, to) = (clock(from + 500), clock(to + 500));
        // A short event takes only a part of its seconds. An event of a long run may take only a part of its
        // intervals.
        let within = self.is_coarse || self.short_events.is_some();
        let (begin, and) = if within { ("between", "and") } else { ("from", "to") };
        let span_zh =
            if within { format!("{from} 与 {to} 之间") } else { format!("{from} 至 {to}") };
        let (short, short_zh) = if self.short_events.is_some() {
            (": one short event", "：一次短暂事件")
        } else {
            ("", "")
        };
        if self.is_until_end {
            return (
                format!(", {part} from {from} until the end{short}"),
                format!("，{part_zh}发生在 {from} 直至结束{short_zh}"),
            );
        }
        if self.short_events.is_some() {
            return (
                format!(", {part} {begin} {from} {and} {to}{short}"),
                format!("，{part_zh}发生在 {span_zh}{short_zh}"),
            );
        }
        (
            format!(
                ", {part} {begin} {from} {and} {to}: one event does not say how often it happens"
            ),
            format!("，{part_zh}发生在 {span_zh}：单次事件无法说明其发生频率"),
        )
    }
}

/// Returns a string such as `12 of 4 800 checked answers were not as expected`.
fn unexpected(errors: u64, all: u64) -> Words {
    let en = match (errors, all) {
        (1, 1) => "the only checked answer was not as expected".into(),
        _ if errors >= all => format!("none of {} was as expected", things(all, "checked answer")),
        _ => {
            let verb = if errors == 1 { "was" } else { "were" };
            format!("{} of {} {verb} not as expected", count(errors), things(all, "checked answer"))
        }
    };
    let zh = format!("{} 个已检查的响应中 {} 个不符合预期", count(all), count(errors));
    Words { en, zh }
}
