//! Names of the metrics that support a finding, as pages show them. Programs read the keys (`verdict.json`).

use answers::verdict::Words;

use crate::model::words;

/// Returns the display name of a metric. A metric without a display name is shown by its key, with spaces instead of
/// underscores.
pub fn name(key: &str) -> Words {
    match NAMES.binary_search_by_key(&key, |(known, ..)| known) {
        Ok(at) => words(NAMES[at].1, NAMES[at].2),
        Err(_) => words(key.replace('_', " "), key.replace('_', " ")),
    }
}

/// Keys of all metrics in alphabetical order, each with its English and its Chinese name.
const NAMES: [(&str, &str, &str); 130] = [
    ("aborted_for_memory", "Connections ended for lack of memory", "因内存不足而中断的连接"),
    ("accepted_per_request", "Connections accepted per request", "每个请求接受的连接"),
    ("after", "Time after the change", "变化后的时间"),
    ("age", "Age at the failure", "失败时的存续时间"),
    ("alone", "Time of a request alone", "请求独自执行的时间"),
    ("asked", "Rate asked for", "要求的速率"),
    ("before", "Time before the change", "变化前的时间"),
    ("beyond_p99", "Requests above p99", "超过 p99 的请求"),
    ("bytes_per_s", "Bytes per second", "每秒字节数"),
    ("cached", "Share answered from a cache", "由缓存应答的占比"),
    ("change", "Change", "变化"),
    ("concurrency", "Requests processed at once", "同时处理的请求"),
    ("connections_lost", "Connections lost", "丢失的连接"),
    ("cpu", "CPU used", "CPU 使用率"),
    ("cpu_under_load", "CPU under load", "有负载时的 CPU"),
    ("cpu_without_load", "CPU without load", "无负载时的 CPU"),
    ("cut", "Samples cut by the end", "被结束切断的样本"),
    ("early_error_share", "Errors at the start", "开始时的错误率"),
    ("ended_late", "Requests that ended late", "结束过晚的请求"),
    ("error_share", "Errors", "错误率"),
    ("errors", "Failed requests", "失败的请求"),
    ("errors_at_end", "Failed at the end", "结束时失败的请求"),
    ("every", "Time between them", "间隔时间"),
    ("failed", "Failed requests", "失败的请求"),
    ("failed_before", "Failed before", "此前的失败"),
    ("failed_connects", "Failed connects", "失败的连接尝试"),
    ("failed_since", "Failed since", "此后的失败"),
    ("fair_share", "Fair share", "均分时的占比"),
    ("fast", "Time of the fast ones", "较快一类的时间"),
    ("files_exhausted", "Samples without a free file descriptor", "缺少文件描述符的样本"),
    ("finished", "Requests finished", "完成的请求"),
    ("first", "Time of the first responses", "最初响应的时间"),
    ("first_error", "First error", "首个错误"),
    ("foreseen_at", "Foreseen at", "预见于"),
    ("full", "Full handshakes", "完整握手"),
    ("generator_cpu", "CPU of the generator", "负载机 CPU"),
    ("generator_full_seconds", "Time with the generator at full CPU", "负载机 CPU 满载的时间"),
    ("growth", "Growth in ten minutes", "十分钟内的增长"),
    ("handshakes", "TLS handshakes", "TLS 握手"),
    ("held_back", "Share of responses held back", "被推迟的响应占比"),
    ("in_flight", "Requests in flight", "在途请求"),
    ("java_collections", "Garbage collections", "垃圾回收"),
    ("java_heap", "Java heap", "Java 堆"),
    ("java_paused", "Time paused by Java", "Java 停顿占比"),
    ("java_paused_longest", "Longest pause of Java", "Java 最长停顿"),
    ("kept_samples", "Samples compared", "所比较的样本"),
    ("known_closed", "Sent on closed connections", "在已关闭的连接上发送"),
    ("labels", "Labels", "标签"),
    ("lag_p99", "Generator overhead, p99", "负载机开销 p99"),
    ("lag_share", "Generator overhead", "负载机开销"),
    ("length", "Length", "时长"),
    ("limit", "Limit", "极限"),
    ("longest", "Longest", "最长"),
    ("machine_cpu", "CPU of the machine", "机器 CPU"),
    ("machine_full_seconds", "Time with the machine at full CPU", "机器 CPU 满载的时间"),
    ("median", "Median", "中位数"),
    ("median_first", "Median at first", "起初的中位数"),
    ("median_last", "Median at last", "最后的中位数"),
    ("median_of_others", "Median of the others", "其他的中位数"),
    ("median_ratio", "Ratio of the medians", "中位数之比"),
    ("memory_available", "Memory available", "可用内存"),
    ("messages_dropped", "Messages dropped", "丢弃的消息"),
    ("misplaced_options", "Misplaced options", "位置错误的选项"),
    ("moving_share", "Time in which data moved", "有数据传输的时间占比"),
    ("opened", "Connections opened", "新建连接"),
    ("opened_per_request", "Connections opened per request", "每个请求新建的连接"),
    ("opening_share", "Time spent opening connections", "建立连接的时间占比"),
    ("overrun", "Time beyond the end", "超出结束的时间"),
    ("own_failures", "Transactions failed by their own assertions", "因自身断言失败的事务"),
    ("passed", "Requests let through", "放行的请求"),
    ("ports", "Local ports", "本地端口"),
    ("ports_exhausted", "Samples without a free port", "缺少空闲端口的样本"),
    ("ports_left", "Ports left", "剩余端口"),
    ("ports_per_s", "Ports used per second", "每秒占用的端口"),
    ("ports_run_out_at", "Ports run out at", "端口耗尽时刻"),
    ("processors_used", "Processors used", "使用的处理器"),
    ("quota", "CPU quota", "CPU 配额"),
    ("quota_stopped", "Time stopped by the quota", "被配额暂停的占比"),
    ("rate", "Rate", "速率"),
    ("reading_stopped", "Reading stopped", "停止读取"),
    ("receive", "Time to receive", "接收时间"),
    ("received", "Received", "接收"),
    ("refused", "Requests refused", "被拒绝的请求"),
    ("requests", "Requests", "请求"),
    ("reset_share", "Requests reset", "被重置的请求占比"),
    ("resets", "Connections reset", "被重置的连接"),
    ("response_mean", "Response time, mean", "平均响应时间"),
    ("response_mean_without", "Response time without them, mean", "除去后的平均响应时间"),
    ("response_p50", "Response p50", "响应时间 p50"),
    ("response_p95", "Response p95", "响应时间 p95"),
    ("response_p95_without", "Response p95 without them", "除去后的响应时间 p95"),
    ("response_p99", "Response p99", "响应时间 p99"),
    ("retransmitted", "Segments sent again", "重传的报文段"),
    ("reuse", "Requests on a kept connection", "复用连接的请求占比"),
    ("runs", "Runs of failures", "连续失败"),
    ("service_p99", "Service p99", "服务时间 p99"),
    ("sessions", "Sessions", "会话"),
    ("sessions_per_connection", "Sessions per connection", "每个连接的会话"),
    ("share", "Share", "占比"),
    ("silence", "Time without an answer", "无应答的时间"),
    ("size_after", "Response size after", "之后的响应大小"),
    ("size_before", "Response size before", "之前的响应大小"),
    ("slow", "Time of the slow ones", "较慢一类的时间"),
    ("slow_connects", "Slow connects", "缓慢的连接"),
    ("slow_share", "Share of the slow ones", "较慢一类的占比"),
    ("slower", "Time while slow", "变慢时的时间"),
    ("stale", "Requests on a stale connection", "用到失效连接的请求"),
    ("stale_share", "Share on a stale connection", "用到失效连接的占比"),
    ("stall", "Longest pause", "最长停顿"),
    ("stalled_samples", "Requests during the pauses", "停顿期间的请求"),
    ("stalls", "Pauses", "停顿"),
    ("starts", "Starts", "启动"),
    ("starts_due", "Starts asked for", "要求的启动"),
    ("starts_missed", "Starts not made", "未能启动"),
    ("syn_retransmits", "SYN segments sent again", "重传的 SYN"),
    ("syn_retransmitted", "SYN segments sent again", "重传的 SYN"),
    ("tcp_memory_pressures", "TCP memory short", "TCP 内存不足"),
    ("threshold", "Users at which it begins", "开始出现时的用户数"),
    ("time_wait", "Connections in TIME_WAIT", "处于 TIME_WAIT 的连接"),
    ("tls_cpu_share", "CPU used by TLS", "TLS 占用的 CPU"),
    ("tls_time_share", "Time spent in TLS", "TLS 的时间占比"),
    ("unread_bytes", "Unread bytes", "未读字节"),
    ("users_from", "Users, from", "用户数，从"),
    ("users_to", "Users, to", "用户数，至"),
    ("usual", "Usual time", "平时的时间"),
    ("wait", "Longest wait", "最长等待"),
    ("waited", "Waited", "等待"),
    ("waiting", "Share of time spent waiting", "等待的时间占比"),
    ("workers_lost", "Worker processes lost", "丢失的工作进程"),
    ("zero_windows", "Closed TCP windows", "TCP 窗口关闭"),
];

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Finds the keys of metrics in the sources of the rules: the first arguments of `with` and `between`.
    fn keys(folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                keys(&path, found);
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a source file");
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            for call in [".with(", ".between("] {
                let arguments = code.split(call).skip(1).map(str::trim_start);
                let key = |text: &str| Some(text.strip_prefix('"')?.split('"').next()?.to_owned());
                found.extend(arguments.filter_map(key));
            }
        }
    }

    #[test]
    fn every_figure_of_a_rule_has_words() {
        let mut found = Vec::new();
        let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../answers/src/rules");
        keys(&rules, &mut found);
        assert!(found.len() > 100, "{found:?}");
        let known = |key: &String| NAMES.iter().any(|(known, ..)| known == key);
        let missing: Vec<&String> = found.iter().filter(|key| !known(key)).collect();
        assert!(missing.is_empty(), "{missing:?}");
        assert!(NAMES.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!(name("first_error").en, "First error");
        assert_eq!(name("made_up").en, "made up");
    }
}
