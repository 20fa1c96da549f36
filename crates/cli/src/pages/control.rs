//! Control requests of the live page, which are the same as those of `throng ctl`.

use serde::{Deserialize, Serialize};

use crate::operator::ctl::{self, Amount, Asker, Command};

/// Largest number of users, or largest rate, that a request may set.
const MOST: f64 = 50_000_000.0;
/// Longest text of a mark in characters.
const LONGEST: usize = 200;

/// A control request of the live page. `ui/src/live/protocol.ts` defines the format.
#[derive(Debug, Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case")]
enum Asked {
    Users { value: f64 },
    Rate { value: f64 },
    Pause,
    GoOn,
    Stop,
    StopNow,
    Mark { text: String },
}

/// The answer to a control request, with its message in English and Chinese.
#[derive(Debug, Serialize)]
pub(super) struct Controlled {
    ok: bool,
    words: Words,
}

#[derive(Debug, Serialize)]
struct Words {
    en: String,
    zh: String,
}

impl Controlled {
    pub(super) fn done(en: impl Into<String>, zh: impl Into<String>) -> Self {
        Self { ok: true, words: Words { en: en.into(), zh: zh.into() } }
    }

    pub(super) fn refused(en: impl Into<String>, zh: impl Into<String>) -> Self {
        Self { ok: false, words: Words { en: en.into(), zh: zh.into() } }
    }
}

/// The parts of a run's load that requests can change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Changeable {
    pub(crate) users: bool,
    pub(crate) rate: bool,
}

/// Returns the names of the requests that a run supports.
pub(super) fn possible(load: Changeable) -> Vec<&'static str> {
    let levels = [("users", load.users), ("rate", load.rate)];
    let levels = levels.into_iter().filter(|level| level.1).map(|level| level.0);
    levels.chain(["pause", "go-on", "stop", "stop-now", "mark"]).collect()
}

/// Carries out a control request of the live page. Returns `None` if the body is not a valid request.
pub(super) fn obey(body: &[u8], ask: &Asker) -> Option<Controlled> {
    let asked: Asked = serde_json::from_slice(body).ok()?;
    let number = |value: f64, whole: bool| {
        let fits = (0.0..=MOST).contains(&value) && (!whole || value.fract() == 0.0);
        fits.then_some(Amount::To(value))
    };
    let (command, zh) = match asked {
        Asked::Users { value } => {
            (number(value, true).map(Command::Users), format!("用户数：{value}"))
        }
        Asked::Rate { value } => {
            (number(value, false).map(Command::Rate), format!("每秒启动：{value}"))
        }
        Asked::Pause => (Some(Command::Pause), "已暂停：在途样本会完成，不再开始新的样本".into()),
        Asked::GoOn => (Some(Command::Resume), "测试继续".into()),
        Asked::Stop => (Some(Command::Stop { now: false }), "测试正在停止：在途样本会完成".into()),
        Asked::StopNow => (Some(Command::Stop { now: true }), "测试立即停止".into()),
        Asked::Mark { text } => {
            let text: String = text.chars().filter(|c| !c.is_control()).take(LONGEST).collect();
            let zh = format!("已标记：{text}");
            ((!text.trim().is_empty()).then_some(Command::Mark(text)), zh)
        }
    };
    let Some(command) = command else {
        return Some(Controlled::refused(
            "expected a number of users, a rate, or a mark with a text",
            "不是有效的用户数或速率，或标记没有文字",
        ));
    };
    Some(match ctl::asked(command, ask) {
        Ok(en) => Controlled::done(en, zh),
        Err(words) => Controlled::refused(words.clone(), words),
    })
}
