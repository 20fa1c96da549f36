//! Chinese texts about the load generator, its machine, and rates that were not reached.

texts! {
    // Rules in `generator.rs`.
    generator_limit_found(cpus, full, seconds) =
        "负载机在 {seconds} 秒中有 {full} 秒用满了全部处理器（{cpus:.0} 个）：速率和响应时间反映的是负载机的极限，而不是被测系统的极限。";
    generator_limit_advice(here) = "给负载机更多处理器或更多机器，或者降低负载{here}。";
    machine_busy_found(others, seconds, own, here) =
        "其他程序在 {seconds} 秒中有 {others} 秒占满了负载机所在的机器（负载机自身使用其处理器的 {own}），同时样本在负载机内等待{here}。";
    machine_busy_advice = "把被测系统和其他繁忙程序放到别的机器上。";
    own_share_found(in_all, part, of) = "Throng 自身造成了响应时间的 {in_all}（p99：{of} 中的 {part}）。";
    own_share_advice = "给负载机更多处理器或减少用户数；在此之前响应时间偏大。";
    generator_not_cause(cpu, lag) = "负载机（CPU {cpu}，自身耗时 p99 {lag} ms）";
    target_on_same_machine = "；被测系统也在这台机器上";

    // Rules in `java.rs`.
    generator_java_heap_advice(heap, of) =
        "Java 堆几乎已满（{of} 中已用 {heap}）：增大堆（--jvm-heap），或减少在 Java 中运行的用户。";
    generator_java_collector_advice(heap, of) =
        "让脚本和插件产生更少的垃圾，或选择停顿更短的收集器（--jvm-option -XX:+UseParallelGC 或 -XX:+UseZGC）；堆最多使用 {of} 中的 {heap}。";
    generator_java_pauses_found(n, in_all, part, up_to) =
        "Java 因垃圾回收而停顿：{n} 次回收共 {in_all}（占运行时间的 {part}），{up_to}。其间在 Java 中运行的样本、脚本和插件都在等待，因此这些样本的响应时间偏大。";
    host_java_heap_advice(name, used, most) =
        "{name} 的堆几乎已满（{most} 中已用 {used}）：增大堆（-Xmx），或查找其保留的对象。";
    host_java_collector_advice(name) =
        "查看 {name} 的垃圾收集器及其日志（-Xlog:gc）：增大堆、选择停顿更短的收集器，或减少每个请求产生的垃圾。";
    host_java_pauses_found(name, in_all, part, most) =
        "{name} 上的 Java 因垃圾回收而停顿：共 {in_all}（占时间的 {part}），一秒内最多 {most}。其间已接收的请求都在等待。";
    longest_collection_in_second(longest) = "一秒内最多 {longest}";
    longest_collection_on_average(longest) = "最差时段平均每秒 {longest}";

    // Rules in `late_starts.rs`.
    because_generator_stood_still = "负载机停顿";
    because_generator_at_limit = "负载机已到极限";
    because_machine_busy = "其他程序占满了负载机";
    because_answers_waited = "响应在负载机内等待";
    rate_missed_by_generator(missing, why, asked_words, reached) =
        "没有达到要求的速率：{missing}未执行，因为{why}：要求 {asked_words}/s，实际 {reached}/s。";
    rate_missed_by_generator_advice = "给负载机更多处理器，或降低要求的速率。";
    rate_missed_in_group(missing, all, verb, asked_words, reached, users) =
        "没有达到要求的速率：{missing}未执行，因为该计划可启动的 {users} 个用户全部在忙：要求 {asked_words}/s，实际 {reached}/s。其他线程组的用户不计在内。";
    rate_missed_in_group_advice(reached) =
        "为带速率的线程组增加用户。如果用户增多只使响应更慢，{reached}/s 就是在其他线程组存在时被测系统的极限。";
    rate_missed_in_pause(missing, pause, at, everyone, then, asked_words, reached, users) =
        "没有达到要求的速率：{missing}未执行。被测系统最长 {pause} 没有响应（首次在 {at}），{users} 个用户全部在等待，其中 {then} 次落在此期间：要求 {asked_words}/s，实际 {reached}/s。";
    rate_missed_in_pause_advice = "用开放式负载（--rps）施加该速率，它不受响应影响地启动；并查看被测系统在该时刻的情况。";
    rate_missed_by_slow_target(missing, why, asked_words, reached, everyone, now, first, then, users) =
        "没有达到要求的速率：{missing}未执行，因为{why}：要求 {asked_words}/s，实际 {reached}/s，{users} 个用户全部在等待 {now} 的响应，而轻负载下只需 {first}。{then}";
    rate_missed_by_slow_target_advice =
        "应先查找被测系统的极限，而不是增加用户：用 throng capacity --rps 查找仍能及时响应的最高速率。";
    rate_missed_for_users(missing, why, asked_words, reached, need) =
        "没有达到要求的速率：{missing}未执行，因为{why}：要求 {asked_words}/s，实际 {reached}/s。{need}；如果响应或暂停因此变长，则需要更多。";
    rate_missed_for_users_advice(give, each_own, reached) =
        "给计划{give}{each_own}。如果更多用户只让响应更慢，{reached}/s 就是被测系统的极限：用 throng capacity --rps 查找。";
    late_starts_generator_advice = "给运行更多处理器，或降低要求的速率。";
    late_starts_advice = "从预定启动算起的响应时间才是用户实际等待的时间；如需准时达到速率，请为计划增加用户。";
    late_starts_found(kept, why, from_due, from_start) =
        "样本启动晚于预定时间{kept}{why}：从预定启动算起 p99 为 {from_due}，从实际启动算起为 {from_start}。";
    because_all_wait(everyone, verb, each, users) = "{users} 个用户都在等待耗时 {each} 的响应";
    because_all_busy(everyone, verb, share, their, each, users) =
        "{users} 个用户全部在忙：{share} 的时间在等待耗时 {each} 的响应，其余时间在响应与下一请求之间（暂停、计划的其他步骤）";
    same_rate_in_all = "，并保持总速率不变：由每个用户各自计时的定时器会随用户增加而要求更高的速率";
    starts_made(made, due) = "（{due} 次启动中完成 {made} 次）";
    missing_starts(n, of, share) = "{of} 次启动中有 {n} 次（{share}）";
    because_target_at_limit(reached) = "被测系统约以 {reached}/s 响应，不能更快";
    more_users_wait_longer = "更多用户只会等得更久。";
    because_answers_got_slower = "被测系统的响应变慢了";
    more_users_help_if_not_slower = "只有在响应不因此变慢时，增加用户才有帮助。";
    rate_needs_users(by_each, need) = "按目前每个用户 {by_each}/s 计算，约需 {need} 个用户";
    give_users(need) = "约 {need} 个用户";
    rate_needs_more_users = "需要更多用户";
    give_more_users = "更多用户";
    late_because_generator_was_busy = "，因为负载机或其所在机器繁忙";
    late_because_only_user_waited = "，因为所有用户都在等待响应";
    late_because_all_users_waited = "，因为所有用户都在等待响应";

    // Rules in `machine.rs`.
    files_exhausted_found(samples) = "负载机的文件描述符用尽：{samples} 个样本因此失败。";
    connections_lost_with_workers(connections) = "，{connections} 个 WebSocket 连接随之丢失";
    workers_lost_found(workers, verb, connections) = "负载机的工作进程异常退出（发现 {workers} 个）{connections}。";
    workers_lost_advice = "原因见运行日志；最常见的是系统内存不足。";
    generator_stalled_found(length, at, of_seconds, effect) =
        "负载机曾停顿：{length} 内没有读取任何响应，直到开始后约 {at}；全程共有 {of_seconds}出现停顿。{effect}";
    generator_stalled_advice = "确保没有什么会暂停或拖慢该进程（SIGSTOP、换页、被暂停的虚拟机、处理器配额），并且没有样本长时间占用计算。";
    some_samples_in_stall(n, were, them, mean, p95, mean_less, p95_less) =
        "停顿期间有 {n} 个样本正在进行或本应开始：计入它们时响应时间均值为 {mean}、p95 为 {p95}，不计入时为 {mean_less} 和 {p95_less}。";
    only_sample_in_stall = "唯一的样本在停顿期间进行或本应开始。";
    all_samples_in_stall(n) = "全部 {n} 个样本都在停顿期间进行或本应开始。";
    no_sample_in_stall = "停顿期间没有样本正在进行。";
    one_sample_ended_in_stall = "这些秒内结束的 1 个样本的时间可能比服务器的实际时间长。";
    samples_ended_in_stall(n) = "这些秒内结束的 {n} 个样本的时间可能比服务器的实际时间长。";
    machine_memory_found(left, all) = "负载机内存不足：至少有一次 {all} 中只剩 {left} 可用。";
    machine_memory_advice = "在这台机器上运行更少的用户，或增加内存；throng preflight 会估算需求。";
    tcp_memory_advice = "提高 net.ipv4.tcp_mem，或更快地读取；throng preflight 会给出数值。";
    tcp_memory_of_others_advice =
        "查找套接字占用最多的程序（ss -tm），或提高 net.ipv4.tcp_mem；throng preflight 会给出数值。";
    tcp_memory_found(times, dropped, were, whose) =
        "负载机上 TCP 达到内存上限：{times} 次处于压力状态，{dropped} 个连接因此被丢弃。{whose}";
    one_second = "1 秒";
    several_seconds(n) = "{n} 秒";
    tcp_memory_of_all_programs(moved) = "内核统计的是所有程序，而本次运行一共只收发了 {moved}：很可能是其他程序占用的。";
    one_interval(step) = "1 个 {step} 的时段";
    several_intervals(n, step) = "{n} 个 {step} 的时段";

    // Rules in `ports.rs`.
    ports_ran_out(samples, text) = "负载机的本地端口用尽：{samples} 个样本因没有空闲端口而失败{text}";
    ports_nearly_taken(least_words, all_words) =
        "负载机的本地端口几乎用尽：至少有一次 {all_words} 个中只剩 {least_words} 个。";
    ports_to_address_run_out(address, when, waiting, all, pace) =
        "照此下去，负载机通往 {address} 的本地端口将在约 {when} 用尽：{all} 个中至少有 {waiting} 个处于 TIME_WAIT，每秒增加 {pace} 个。";
    ports_run_out(when, least_words, all_words, pace) =
        "照此下去，负载机的本地端口将在约 {when} 用尽：{all_words} 个中还剩 {least_words} 个，每秒减少 {pace} 个。";
    ports_without_example = "。";
    ports_with_example(text) = "：{text}";

    // Rules in `quota.rs`.
    cpu_quota_found(allowed, of, stopped_words, periods_words) =
        "负载机控制组的 CPU 配额（{allowed} 个处理器）使负载机在调度周期的 {of} 中被暂停（{periods_words} 个周期中的 {stopped_words} 个）：速率和响应时间反映的是配额的极限，而不是被测系统的极限。";
    cpu_quota_advice = "提高或取消该限制（docker run --cpus、resources.limits.cpu、CPUQuota=），或者降低负载。";

    // Rules in `reading.rs`.
    reading_stopped_found(times, peak, not_read, most) =
        "由于用户收件箱已满，套接字被暂停读取 {times} 次：最多同时 {peak} 个，结束时 {not_read} 个；最多排队 {most}。";
    reading_stopped_advice = "让计划更频繁地读取，或提高收件箱上限；套接字未被读取时，对端只能等待或缓冲。";
    messages_dropped_found(n, all) = "由于收件箱已满，负载机丢弃了 {all} 条消息中的 {n} 条。";
    messages_dropped_advice = "这是计划的设置所要求的；如果计划需要这些消息，请提高收件箱上限。";
    unread_growing_found(each, longest) = "负载机套接字中积压了未读数据：每个套接字最多 {each}，连续增长 {longest} 秒。";
    unread_growing_advice = "负载机读取速度慢于服务器发送速度：给它更多处理器，或减少每台的连接数。";
    small_receive_buffer_advice(bytes) =
        "此处套接字的接收缓冲区初始只有 {bytes} 字节，其中一半为窗口：更长的消息会使窗口关闭。请提高 net.ipv4.tcp_rmem 的默认值；Linux 自身的默认值为 131 072。";
    zero_windows_advice = "无法发送的对端或代理会缓冲数据或关闭连接：断开的连接可能是负载机造成的；请查看 seconds.jsonl 中的 CPU、lag 和未读字节。";
    zero_windows_found(times) = "负载机所在机器的套接字 {times} 次要求对端停止发送（TCP 零窗口）。";

    // Rules in `systems.rs`.
    ports_advice_windows =
        "扩大 Windows 机器的动态端口范围（netsh int ipv4 set dynamicport tcp start=10000 num=55535；Windows Vista 之前为 MaxUserPort），缩短已关闭连接的等待时间（TcpTimedWaitDelay），或保持连接。";
    ports_advice_macos =
        "扩大 macOS 机器的 net.inet.ip.portrange.first 到 net.inet.ip.portrange.last，或保持连接。";
    ports_advice_linux = "扩大 net.ipv4.ip_local_port_range、增加源地址，或保持连接；throng preflight 会计算需求。";
    files_advice_windows = "Windows 默认不限制打开文件数：检查负载机从不关闭的文件和连接（任务管理器中的句柄数）以及占满的非分页池，或把用户分散到更多机器。";
    files_advice_macos =
        "提高 macOS 机器的打开文件数上限（shell 的 ulimit -n、launchctl limit maxfiles、kern.maxfilesperproc），或把用户分散到更多机器。";
    files_advice_linux = "提高打开文件数上限（ulimit -n），或把用户分散到更多工作进程。";
    connect_timeout_advice(end) =
        "连接请求没有得到应答：检查丢弃它们的防火墙、错误的地址，或被测系统已满的接受队列（somaxconn、服务的 backlog）。{end}";
    reset_by_windows_advice =
        "这些连接由 Windows 自身中止（错误 10053）：原因是数据长时间未被确认、超时，或杀毒软件、VPN、防火墙。请检查这些，以及被测系统当时的日志。";
    reset_advice = "被测系统或其前面的代理关闭了连接：请查看其超时、连接数上限和日志。";
    connect_limit_windows =
        "计划没有设置超时时，Windows 约 21 秒后放弃（netsh int tcp show global：Max SYN Retransmissions）。";
    connect_limit_macos = "计划没有设置超时时，macOS 在 75 秒后放弃（net.inet.tcp.keepinit）。";
    connect_limit_linux = "计划没有设置超时时，Linux 约 127 秒后放弃（net.ipv4.tcp_syn_retries）。";
}
