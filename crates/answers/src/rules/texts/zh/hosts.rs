//! Chinese texts about watched hosts and backends.

texts! {
    // Rules in `backend_names.rs`.
    backend_names_advice = "请确认这些值代表什么。若为同一服务的服务器，摘除该服务器并检查其主机、版本和日志。若为不同的服务，请在计划中为各自的请求分别命名。";
    value_is_slow(header, value, slow, usual, n, all) =
        "带 {header}: {value} 的响应慢：中位数 {slow}，其他取值的响应为 {usual}（随机保留的 {all} 个响应中有 {n} 个带有它）。";
    backend_by_value_is_slow(total, header, value, slow, usual, n, all) =
        "{total} 个后端中有一个慢：{header}: {value} 中位数 {slow}，其他为 {usual}（随机保留的 {all} 个响应中有 {n} 个来自它）。";
    value_fails(header, value, bad, usual, n, all) =
        "带 {header}: {value} 的响应出错：失败 {bad}，其他取值的响应为 {usual}（随机保留的 {all} 个响应中有 {n} 个带有它）。";
    backend_by_value_fails(total, header, value, bad, usual, n, all) =
        "{total} 个后端中有一个出错：{header}: {value} 的响应失败 {bad}，其他为 {usual}（随机保留的 {all} 个响应中有 {n} 个来自它）。";

    // Rules in `backends.rs`.
    backend_advice = "摘除该后端并检查其主机、版本和日志；所有后端合计的数据掩盖了其他后端。";
    backend_is_slow(total, name, slow, usual, n) =
        "{total} 个后端中有一个慢：{name} 中位数 {slow}，其他为 {usual}（有 {n} 个请求发往它）。";
    backend_fails(total, name, bad, n, usual) =
        "{total} 个后端中有一个出错：{name} 的 {n} 个请求失败 {bad}，其他最多 {usual}。";
    backends_are_uneven(total, name, share, expected) =
        "请求在 {total} 个后端上分布不均：{name} 得到 {share}，均分应为 {expected}。";
    backends_uneven_advice = "如果没有设置权重或会话保持：检查均衡规则（ip_hash 把一台负载机视为一个客户端；请使用更多源地址）以及客户端缓存的域名。";

    // Rules in `host_ports.rs`.
    default_range_of_ports = "（默认范围；该主机的实际范围未知）";
    failures_after_ports_ran_out(failed, share, code, early) =
        "此后有 {failed} 个请求失败（{share}），多数为 {code}；此前为 {early} 个。";
    ports_foreseen_since(seen, pace) = "从 {seen} 起即可预见：每秒增加 {pace} 个。";
    one_connection_for_several_requests(every) = "它每 {every} 个请求打开一个新连接：若有连接池，则其保持时间太短或容量太小。";
    connections_for_each_request(number) = "它每个请求打开 {number} 个连接。";
    host_ports_ran_out(name, at, waiting_words, ports, note, opening, aftermath) =
        "主机 {name} 的本地端口在约 {at} 用尽：{ports} 个{note}中有 {waiting_words} 个处于 TIME_WAIT，每个要保留 60 秒。{opening}{aftermath}";
    host_ports_run_out(name, at, waiting, ports, note, pace, opening) =
        "照此下去，主机 {name} 的本地端口将在约 {at} 用尽：{ports} 个{note}中有 {waiting} 个处于 TIME_WAIT，每秒增加 {pace} 个。{opening}";
    host_ports_range_advice(name) = "用 --watch {name}=URL,ports=N 指明其端口范围。";
    host_ports_advice(name, more) =
        "让 {name} 保持与后端服务的连接（连接池、upstream keepalive，存活时间不能只有几毫秒）；否则扩大其 net.ipv4.ip_local_port_range，或为它或后端服务增加地址：每一对地址各有整个端口范围。{more}";

    // Rules in `hosts.rs`.
    host_time_wait_on_average(waiting) = "平均有 {waiting} 个处于 TIME_WAIT。";
    host_churn_found(host, each, kept, held) =
        "主机 {host} 每个请求向后端打开 {each} 个连接，而只接受 {kept} 个：到它的连接被保持，它到后端服务的连接没有。{held}";
    host_churn_advice(host) =
        "让 {host} 保持与后端服务的连接（nginx upstream 的 keepalive，配合 HTTP/1.1 和空的 Connection 头；连接池）。每个新连接都让两端付出代价，并占用一个端口 60 秒；即使没有处理器跑满，速率也可能因此不再增长。";
    host_churn_brief(host, every, each, kept, held) =
        "主机 {host} 到后端服务的连接保持得太短：它始终每 {every} 个请求就打开一个新连接（每个请求 {each} 个；接受 {kept} 个）。{held}";
    host_churn_brief_advice(host) =
        "检查 {host} 到后端服务的连接池：以毫秒计的存活时间或空闲时间、每个连接的请求数过小（nginx upstream 的 keepalive_time、keepalive_timeout、keepalive_requests，连接池的 timeToLive），或连接数少于同时使用的数量。每个新连接占用一个端口 60 秒。";
    host_uneven_unreachable(host, part, names, of, before, rate) =
        "{host} 只得到 {names} 总流量的 {part}；均分应为 {of}。{before} 每秒重试 {rate} 次连接：{host} 很可能在其列表中但无法到达。";
    host_uneven_unreachable_advice(before, host) =
        "在 {before} 上手工连接 {host}；检查两者之间是否有丢弃报文的网络策略或防火墙，以及地址或端口是否有误。";
    host_uneven_one_gets_most(only, most, names, of) = "{only} 独占 {names} 总流量的 {most}；若均分，每台应为 {of}。";
    host_uneven_one_gets_most_advice =
        "其前面的代理很可能按客户端地址选择（ip_hash），而整个运行只有一个地址：从多个网络连接（--source），或改用其他选择方式。若并非如此，请检查其列表中是否有其他主机。";
    host_uneven_others_even(host, part, names, of) =
        "{host} 只得到 {names} 总流量的 {part}；均分应为 {of}，其余主机均匀分担。";
    host_uneven_others_even_advice(host) = "检查 {host} 是否在其前面代理的列表中、是否正常。";
    host_uneven_found(host, part, names, of) = "{host} 只得到 {names} 总流量的 {part}；均分应为 {of}。";
    host_uneven_advice(host) =
        "检查 {host} 是否在其前面代理的列表中、是否正常。按客户端地址选择的代理（ip_hash）会把来自同一网络的所有连接交给其中一个：从多个网络连接（--source），或改用其他选择方式。同时监视代理所在主机（--watch）：它会统计得不到应答的连接尝试。";
    host_busy_found(names, part, of, under) =
        "主机 {names} 的处理器在没有负载时就有 {part}{of} 忙碌，在负载下为 {under}：那里还有其他程序在运行。";
    host_busy_advice(names) = "在 {names} 上查找不属于测试的进程（用 top 按处理器排序），结束它，然后重新测量。";
    the_busiest = "（最忙者）";

    // Rules in `java_options.rs`.
    java_options_found(are, options, program, host, they, them, more) =
        "{host} 上位于 {program} 之后的选项 {options} 没有生效：Java 将其作为参数交给程序。{more}";
    java_options_advice(them, options, program) = "请将其放在前面：java {options} {program}，然后重新运行。";
    java_options_of_others(n) = "该主机上另有 {n} 个亦然。";

    // Rules in `series_moves.rs`.
    series_moves_found(name, rises, low_ms, low, high_ms, high, alike_words, n) =
        "在负载不变时，响应较慢的秒内 {name} {rises}：其值不超过 {low} 时平均 {low_ms}，不低于 {high} 时平均 {high_ms}（{n} 秒内的秩相关系数 {alike_words}）。这并非原因：两者可能都受其他因素影响。";
    series_moves_advice(name) = "请查看这些时刻 {name} 在服务中统计的内容，以及同时发生的其他情况。";
    series_rises = "升高";
    series_falls = "降低";

    // Rules in `sessions.rs`.
    sessions_exhausted(host, now, of) = "{host} 的会话已用尽：{of} 个中的 {now} 个。经过它的新连接会失败或等待。";
    sessions_exhausted_advice(host) = "让所有经过 {host} 的连接保持复用，缩短其已关闭会话的保留时间，或提高其上限。";
    sessions_with_clients(clients) = "它与客户端的 {clients} 个会话中的每一个";
    connections_of_run(shown) = "本次运行的 {shown} 个连接中的每一个";
    sessions_of_unknown_owner(host, works, sessions, held) =
        "{host} 的处理器有 {works} 忙碌，它有 {sessions} 个会话，而本次运行保持 {held} 个连接。这些会话属于谁无从得知：首次读数时本次运行已经保持其连接。";
    sessions_of_unknown_owner_advice =
        "让用户缓慢增加（--ramp 30s）：这样最初的会话属于其他流量，随用户增加的会话则能显示代理是否为每个请求打开一个连接。";
    and_processors_busy(cpu) = "，且其处理器有 {cpu} 忙碌";
    sessions_for_each_connection(host, per, of, works) =
        "{of}在 {host} 上对应 {per} 个会话{works}：到第一台服务器的连接被保持，其后的连接很可能没有。";
    sessions_for_each_connection_advice(host) =
        "让代理保持与后端服务的连接（nginx upstream 的 keepalive，配合 HTTP/1.1 和空的 Connection 头）：每个新连接在超时之前都占用 {host} 的一个会话。要确认，请监视代理所在主机：它会统计自己打开的连接。";
}
