//! Rules that find what limited or disturbed a run. Each rule is a pure function of the record.
//!
//! A rule reports a finding or stays silent; in doubt it stays silent. A statistical rule needs two independent
//! signs, each of them significant. Findings about the target are hidden while the generator is in doubt
//! ([`judge`]). Thresholds are constants in the file of each rule, with their sources; `docs/verdict.md` has a
//! heading for each rule.

mod alike;
mod backend_names;
mod backends;
mod bimodal;
mod breaker;
mod chance;
mod concurrency;
mod connections;
mod constant_load;
mod course;
mod courses;
mod defaults;
mod delayed_ack;
mod down;
mod errors;
mod failing_time;
mod fails_above;
pub(crate) mod figures;
mod gateway;
mod generator;
mod hang;
mod host_ports;
mod hosts;
mod java;
mod java_options;
mod late_starts;
mod light;
mod machine;
mod moment;
mod network;
mod one_thread;
mod outlasts;
mod pace;
mod places;
mod plan_fault;
mod ports;
mod queue_grows;
mod quota;
mod rate_limit;
mod reading;
mod realism;
mod regular;
mod request_keys;
mod resets;
mod rhythm;
mod run;
mod same_work;
mod samples;
pub(crate) mod say;
mod series_level;
mod series_moves;
mod sessions;
mod short_wait;
mod silence;
mod slow_phase;
mod slows;
mod stalled;
mod stalls;
mod steps;
mod storm;
mod systems;
mod timeouts;
mod transactions;
mod waiting_labels;
mod whose;

use record::Record;

pub use errors::{
    Cut, EARLIER_MS, MOST_ENDED, cut_by_errors, cut_short, cut_short_by_errors, without_includes,
    words_of,
};
pub use hang::unanswered;
pub use late_starts::missed_starts;
pub use run::{Rule, Run, interrupted, judge};
pub(crate) use say::clock;
pub use say::part;

use crate::verdict::{Verdict, Words};

/// Ids of charts that several rules share: load and response times.
const LOAD: [&str; 2] = ["load", "response"];
/// Ids of charts that several rules share: the generator's processor use, overhead and pauses.
const GENERATOR: [&str; 3] = ["cpu", "own", "waiting"];

// Each rule is declared with its module, its subject in both languages, and the ids of the charts that show its
// findings, the most telling first. An id that ends with a dot stands for all charts whose ids begin with it.
macro_rules! rules {
    ($($id:ident = $module:ident: $en:literal, $zh:literal, $charts:expr;)*) => {
        /// All rules in their order: first rules about whether the run can be trusted, then rules about what
        /// limited it.
        pub const ALL: &[Rule] = &[$(Rule {
            id: stringify!($id),
            looks_for: ($en, $zh),
            charts: &$charts,
            judge: |run| $module::$id(run),
        }),*];
    };
}

rules! {
    cpu_quota = quota: "a CPU quota that stops the generator", "使负载机暂停的 CPU 配额", GENERATOR;
    generator_limit = generator: "a generator at its limit", "负载机到达极限", GENERATOR;
    machine_busy = generator: "other programs that fill the generator's machine", "其他程序占满负载机所在的机器", GENERATOR;
    files_exhausted = machine: "descriptors gone", "文件描述符用尽", ["errors", "cpu"];
    workers_lost = machine: "lost worker processes", "工作进程丢失", ["load", "cpu"];
    generator_stalled = machine: "pauses of the generator", "负载机停顿", ["waiting", "cpu"];
    java_pauses = java: "pauses of the generator's Java machine", "负载机 Java 虚拟机的停顿", ["waiting", "cpu"];
    reading_stopped = reading: "full message queues", "收件箱已满", ["messages", "memory"];
    messages_dropped = reading: "dropped messages", "消息被丢弃", ["messages", "memory"];
    unread_growing = reading: "unread data in the generator", "负载机中未读的数据", ["messages", "memory"];
    zero_windows = reading: "closed TCP windows", "TCP 零窗口", ["segments", "bytes"];
    generator_memory = machine: "a generator short of memory", "负载机内存不足", ["memory"];
    target_down = down: "a target that is gone", "被测系统不可用", ["errors", "load"];
    errors_named = errors: "errors", "错误", ["errors", "response"];
    queue_grows = queue_grows: "starts that the target does not keep up with", "被测系统跟不上的启动", ["load", "flight"];
    concurrency_limit = concurrency: "a fixed number of requests at once", "固定的并发处理数", ["load", "response", "flight"];
    plateau = concurrency: "a rate that does not grow with the users", "速率不随用户增长", ["load", "response", "flight"];
    ports = ports: "local ports that run out", "本地端口用尽", ["ports", "opened"];
    host_ports = host_ports: "local ports of watched hosts", "被监视主机的本地端口", ["watched."];
    host_churn = hosts: "connections of watched hosts to what is behind them", "被监视主机到后端的连接", ["watched."];
    host_sessions = sessions: "sessions of watched firewalls and load balancers", "被监视防火墙和负载均衡器的会话", ["watched."];
    host_uneven = hosts: "watched hosts that are left out", "未分到负载的被监视主机", ["watched."];
    host_busy = hosts: "processors of watched hosts that are busy without load", "被监视主机在无负载时的处理器", ["watched."];
    host_java = java: "pauses of Java on watched hosts", "被监视主机上 Java 的停顿", ["watched."];
    plan_fault = plan_fault: "a plan that fails at any load", "在任何负载下都失败的计划", ["errors"];
    cut_by_end = errors: "errors made by the end of the run", "运行结束造成的错误", ["errors", "load"];
    fails_above = fails_above: "errors from a number of requests in flight on", "在途请求达到某个数量后的错误", ["errors", "flight"];
    reset_under_load = resets: "connections reset from some load on", "达到一定负载后连接被重置", ["errors", "load"];
    connection_churn = connections: "connections that are not kept", "连接没有保持", ["opened", "connect"];
    tls_cost = connections: "the cost of TLS handshakes", "TLS 握手的开销", ["tls", "opened", "cpu"];
    fixed_timeout = timeouts: "time limits", "时间限制", ["errors", "response"];
    accept_queue = timeouts: "a full accept queue", "接受队列已满", ["connect", "response"];
    backend_uneven = backends: "one backend that is ill or not used", "某个后端异常或未被使用", LOAD;
    rate_limit = rate_limit: "a rate limit", "限流", ["errors", "load"];
    late_starts = late_starts: "a rate that was not reached", "没有达到要求的速率", LOAD;
    warmup_unfinished = course: "an unfinished warm-up", "预热未完成", LOAD;
    stalls = stalls: "stops of the whole target", "被测系统整体停顿", LOAD;
    slow_phase = slow_phase: "a time of slower answers", "响应较慢的一段时间", LOAD;
    bimodal = bimodal: "two kinds of answers", "两类响应", LOAD;
    drift = course: "a target that gets slower", "被测系统逐渐变慢", LOAD;
    step_change = course: "a sudden change of the target", "被测系统突然变化", LOAD;
    network_loss = network: "lost segments", "网络丢包", ["segments", "bytes"];
    bandwidth = network: "a saturated network", "线路占满", ["bytes"];
    constant_load = constant_load: "waiting under a load that does not change", "负载不变时的等待", LOAD;
    delayed_ack = delayed_ack: "answers held back until an acknowledgement", "等待确认而被延迟的响应", ["phases", "response"];
    too_few_samples = samples: "too few samples", "样本太少", LOAD;
    circuit_breaker = breaker: "a circuit breaker", "熔断", ["errors", "response"];
    test_realism = realism: "an unrealistic test", "与真实用户不符的测试", LOAD;
}

/// Ids of further findings, which are only added if a run has the data for them.
pub const ADDED: &[&str] =
    &[series_level::ID, series_moves::ID, java_options::ID, transactions::ID];

/// Id, subject and charts of a rule.
type Entry = (&'static str, (&'static str, &'static str), &'static [&'static str]);

/// Subjects of the findings in [`ADDED`], in English and Chinese, and their charts.
const ADDED_ENTRIES: &[Entry] = &[
    (
        series_level::ID,
        ("a number in answers that stays at a limit", "响应中停在某一上限的数值"),
        &["series."],
    ),
    (
        series_moves::ID,
        ("a number in answers that moves with the response time", "响应中随响应时间变化的数值"),
        &["series.", "response"],
    ),
    (
        java_options::ID,
        ("options of a Java machine that are not in force", "未生效的 Java 虚拟机选项"),
        &LOAD,
    ),
    (
        transactions::ID,
        ("transactions that fail by their own assertions", "因自身断言而失败的事务"),
        &["errors"],
    ),
];

/// Applies all rules to a record.
pub fn verdict(record: &Record) -> Verdict {
    let run = Run::new(record, ALL);
    let mut verdict = run.judge();
    series_level::add(&mut verdict, record);
    series_moves::add(&mut verdict, &run);
    java_options::add(&mut verdict, record);
    transactions::add(&mut verdict, record);
    verdict
}

/// Adds to the verdict on a run what a light run shows about its limit. In a light run, requests do not wait for each
/// other.
pub fn add_light_run(verdict: &mut Verdict, light: &Record, record: &Record) {
    let known = verdict.findings.iter().chain(&verdict.hidden);
    if known.map(|finding| finding.id).any(|id| matches!(id, "concurrency_limit" | "rate_limit")) {
        return;
    }
    if let Some(finding) = concurrency::with_light_run(light, record) {
        // The number of requests that the target processes at once says more than a plateau or a constant load.
        verdict.remove("plateau");
        verdict.remove("constant_load");
        verdict.add(finding, |id| ALL.iter().position(|rule| rule.id == id));
    }
}

/// Returns the subject and the charts of a rule; `None` for an unknown rule.
fn declared(id: &str) -> Option<Entry> {
    let rule = ALL.iter().find(|rule| rule.id == id);
    let rule = rule.map(|rule| (rule.id, rule.looks_for, rule.charts));
    rule.or_else(|| ADDED_ENTRIES.iter().find(|added| added.0 == id).copied())
}

/// Returns the subject of a rule for the list of checks; `None` for an unknown rule.
pub fn looks_for(id: &str) -> Option<Words> {
    let (_, (en, zh), _) = declared(id)?;
    Some(Words { en: en.into(), zh: zh.into() })
}

/// Returns the ids of the charts that show the findings of a rule, the most telling first. An id that ends with a dot
/// stands for all charts whose ids begin with it.
pub fn charts(id: &str) -> &'static [&'static str] {
    declared(id).map_or(&[], |(_, _, charts)| charts)
}
