//! Advice for the operating system of the generator, if the failure messages identify it. Each system has its own
//! limits and names. Throng itself runs on Linux; result files may come from any system.

use record::Record;
use record::wordings::{System, is_abort};

use super::say::words;
use crate::verdict::Words;

/// Returns the operating system that wrote the failure messages of a record.
pub(super) fn system(record: &Record) -> Option<System> {
    record.causes.iter().find_map(|cause| System::of(&cause.message))
}

/// Returns the advice for exhausted local ports.
pub(super) fn ports(system: Option<System>) -> Words {
    match system {
        Some(System::Windows) => words!(
            "Widen the range of dynamic ports of the Windows machine (netsh int ipv4 set dynamicport tcp start=10000 num=55535; MaxUserPort before Windows Vista), let closed connections wait for less time (TcpTimedWaitDelay), or keep connections open.",
            "扩大 Windows 机器的动态端口范围（netsh int ipv4 set dynamicport tcp start=10000 num=55535；Windows Vista 之前为 MaxUserPort），缩短已关闭连接的等待时间（TcpTimedWaitDelay），或保持连接。"
        ),
        Some(System::MacOs) => words!(
            "Widen net.inet.ip.portrange.first to net.inet.ip.portrange.last of the macOS machine, or keep connections open.",
            "扩大 macOS 机器的 net.inet.ip.portrange.first 到 net.inet.ip.portrange.last，或保持连接。"
        ),
        Some(System::Linux) | None => words!(
            "Widen net.ipv4.ip_local_port_range, add source addresses, or keep connections open; throng preflight computes the need.",
            "扩大 net.ipv4.ip_local_port_range、增加源地址，或保持连接；throng preflight 会计算需求。"
        ),
    }
}

/// Returns the advice for exhausted file descriptors.
pub(super) fn files(system: Option<System>) -> Words {
    match system {
        Some(System::Windows) => words!(
            "Windows sets no limit of open files by default: look for files and connections that the generator never closes (its number of handles in the Task Manager), and for a full non-paged pool, or spread the users over more machines.",
            "Windows 默认不限制打开文件数：检查负载机从不关闭的文件和连接（任务管理器中的句柄数）以及占满的非分页池，或把用户分散到更多机器。"
        ),
        Some(System::MacOs) => words!(
            "Raise the limits of open files of the macOS machine (ulimit -n of the shell, launchctl limit maxfiles, kern.maxfilesperproc), or spread the users over more machines.",
            "提高 macOS 机器的打开文件数上限（shell 的 ulimit -n、launchctl limit maxfiles、kern.maxfilesperproc），或把用户分散到更多机器。"
        ),
        Some(System::Linux) | None => words!(
            "Raise the limit of open files (ulimit -n), or spread the users over more worker processes.",
            "提高打开文件数上限（ulimit -n），或把用户分散到更多工作进程。"
        ),
    }
}

/// Returns the advice for connects without a response. The system gives up after its own number of SYNs: Windows after
/// 21 s, macOS after 75 s (`net.inet.tcp.keepinit`), Linux after 127 s (`tcp_syn_retries` of 6).
pub(super) fn connect_timeouts(system: Option<System>) -> Words {
    let (end, end_zh) = match system {
        Some(System::Windows) => (
            "If the plan sets no connect timeout, Windows gives up after about 21 s (netsh int tcp show global: Max SYN Retransmissions).",
            "计划没有设置超时时，Windows 约 21 秒后放弃（netsh int tcp show global：Max SYN Retransmissions）。",
        ),
        Some(System::MacOs) => (
            "If the plan sets no connect timeout, macOS gives up after 75 s (net.inet.tcp.keepinit).",
            "计划没有设置超时时，macOS 在 75 秒后放弃（net.inet.tcp.keepinit）。",
        ),
        Some(System::Linux) => (
            "If the plan sets no connect timeout, Linux gives up after about 127 s (net.ipv4.tcp_syn_retries).",
            "计划没有设置超时时，Linux 约 127 秒后放弃（net.ipv4.tcp_syn_retries）。",
        ),
        None => ("", ""),
    };
    let advice = words!(
        "Connection attempts got no answer: look for a firewall that drops them, a wrong address, or a full accept queue of the target (somaxconn, the service's backlog). {end}",
        "连接请求没有得到应答：检查丢弃它们的防火墙、错误的地址，或被测系统已满的接受队列（somaxconn、服务的 backlog）。{end_zh}"
    );
    Words { en: advice.en.trim_end().to_owned(), zh: advice.zh }
}

/// Returns the advice for broken connections.
pub(super) fn resets(system: Option<System>, text: &str) -> Words {
    if system == Some(System::Windows) && is_abort(text) {
        return words!(
            "Windows itself ended these connections (error 10053): after data that nobody acknowledged, a time limit, or by its virus scanner, VPN or firewall. Look at these, and at the target's log for that time.",
            "这些连接由 Windows 自身中止（错误 10053）：原因是数据长时间未被确认、超时，或杀毒软件、VPN、防火墙。请检查这些，以及被测系统当时的日志。"
        );
    }
    words!(
        "The target or a proxy before it closed the connection: look at its time limits, its limits of connections and its log.",
        "被测系统或其前面的代理关闭了连接：请查看其超时、连接数上限和日志。"
    )
}
