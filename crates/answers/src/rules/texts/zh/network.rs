//! Chinese texts about connections and the network.

texts! {
    // Rules in `connections.rs`.
    stale_connections_found(n_words, of, text) =
        "被测系统在两次请求之间未作声明就关闭保持的连接：{of} 个请求中有 {n_words} 个因连接已被关闭而失败。{text}";
    stale_connections_not_work_of_target = "被测系统的处理：这些请求没有得到响应，立即失败";
    stale_connections_advice =
        "让服务器保持连接的时间长于用户的停顿（keepalive_timeout），或在关闭时声明（Connection: close）。浏览器会重发此类请求；httpclient4.retrycount=1 可让计划也这样做。";
    churn_by_new_users(of, cost) = "计划把每次迭代当作新用户：{of}；建立连接占响应时间的 {cost}。";
    churn_by_new_users_advice = "如果真实用户每次都是新的，请保持；否则在线程组勾选“Same user on each iteration”。";
    churn_by_target(of, share, cost) = "被测系统不保持连接：{of}，{share} 由被测系统关闭；建立连接占响应时间的 {cost}。";
    churn_by_target_advice =
        "在服务器或其前面的代理上打开 keep-alive，且保持时间长于用户的停顿；查看响应中的 Connection: close 以及每连接请求数上限是否过小。";
    churn_by_plan(of, cost) = "计划要求不保持连接（Connection: close）：{of}；建立连接占响应时间的 {cost}。";
    churn_by_plan_advice = "在采样器中勾选“Use KeepAlive”，并去掉计划中的“Connection: close”请求头，除非真实用户也这样。";
    churn_by_generator(of, cost) = "连接没有保持：{of}，大部分由负载机关闭；建立连接占响应时间的 {cost}。";
    churn_by_generator_advice = "检查因超时结束的样本、被取消的响应，以及计划属性中过短的连接存活时间（httpclient4.time_to_live）。";
    tls_cost_found(of_time, of_cpu, handshakes, whole, again) =
        "TLS 握手占响应时间的 {of_time}、负载机处理器时间的 {of_cpu}：共 {handshakes} 次，其中完整 {whole} 次，恢复 {again} 次。";
    tls_cost_advice =
        "如果真实用户会保持连接，请让计划也保持（same user on each iteration、https.sessioncontext.shared）；否则在被测系统启用会话恢复，并给负载机更多处理器。";
    connections_for_requests(opened, all, again) = "{all} 个请求用了 {opened} 个连接，复用 {again}";

    // Rules in `delayed_ack.rs`.
    delayed_ack_found(late_text, of_text, size, n, all) =
        "{of_text} 中有 {late_text} 花在响应的第一个字节与最后一个字节之间，而整个响应只有 {size} 字节（随机保留的 {all} 个响应中有 {n} 个）：被测系统很可能分两次发送响应，第二部分要等第一部分被确认后才发出，这需要 40 ms。";
    delayed_ack_not_load = "负载：任何负载下这段时间都相同";
    delayed_ack_advice = "让被测系统一次写出响应头和正文，或在其连接上设置 TCP_NODELAY。Linux 上的客户端会遇到同样的延迟。";

    // Rules in `network.rs`.
    network_loss_found(n, of, whose, part, way) =
        "{whose}的 {of} 个 TCP 报文段中有 {n} 个（{part}）被重传{way}：响应时间可能因此包含 200 ms 以上的等待。";
    network_loss_advice = "网络或过载的接收方在丢包：查看网卡和交换机的丢包计数，以及被测系统的处理器。";
    bandwidth_receiving = "接收";
    bandwidth_sending = "发送";
    bandwidth_line_is_full(each, line, part, verb) =
        "线路已满：每秒 {each} 且保持不变{line}，响应时间的 {part} 用于{verb}。";
    bandwidth_flat_rate(each, part, verb) = "每秒 {each} 且保持不变，响应时间的 {part} 用于{verb}：线路已满，或内容发送缓慢。";
    bandwidth_advice = "压缩或缩短响应，或使用更快的线路；检查虚拟机或代理的带宽上限。";
    most_sent_again_to(to) = "，大部分发往 {to}";
    connections_of_own_run = "本次运行的连接（约）";
    generator_machine = "负载机";
    full_line(line) = "，相当于占满 {line:.0} Mbit/s 的线路";
}
