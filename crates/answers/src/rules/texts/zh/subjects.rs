//! Chinese subjects of the rules: what each rule looks for.

texts! {
    cpu_quota = "使负载机暂停的 CPU 配额";
    generator_limit = "负载机到达极限";
    machine_busy = "其他程序占满负载机所在的机器";
    files_exhausted = "文件描述符用尽";
    workers_lost = "工作进程丢失";
    generator_stalled = "负载机停顿";
    java_pauses = "负载机 Java 虚拟机的停顿";
    reading_stopped = "收件箱已满";
    messages_dropped = "消息被丢弃";
    unread_growing = "负载机中未读的数据";
    zero_windows = "TCP 零窗口";
    generator_memory = "负载机内存不足";
    target_down = "被测系统不可用";
    errors_named = "错误";
    queue_grows = "被测系统跟不上的启动";
    concurrency_limit = "固定的并发处理数";
    plateau = "速率不随用户增长";
    ports = "本地端口用尽";
    host_ports = "被监视主机的本地端口";
    host_churn = "被监视主机到后端的连接";
    host_sessions = "被监视防火墙和负载均衡器的会话";
    host_uneven = "未分到负载的被监视主机";
    host_busy = "被监视主机在无负载时的处理器";
    host_java = "被监视主机上 Java 的停顿";
    plan_fault = "在任何负载下都失败的计划";
    cut_by_end = "运行结束造成的错误";
    fails_above = "在途请求达到某个数量后的错误";
    reset_under_load = "达到一定负载后连接被重置";
    connection_churn = "连接没有保持";
    tls_cost = "TLS 握手的开销";
    fixed_timeout = "时间限制";
    accept_queue = "接受队列已满";
    backend_uneven = "某个后端异常或未被使用";
    rate_limit = "限流";
    late_starts = "没有达到要求的速率";
    warmup_unfinished = "预热未完成";
    stalls = "被测系统整体停顿";
    slow_phase = "响应较慢的一段时间";
    bimodal = "两类响应";
    drift = "被测系统逐渐变慢";
    step_change = "被测系统突然变化";
    network_loss = "网络丢包";
    bandwidth = "线路占满";
    constant_load = "负载不变时的等待";
    delayed_ack = "等待确认而被延迟的响应";
    too_few_samples = "样本太少";
    circuit_breaker = "熔断";
    test_realism = "与真实用户不符的测试";

    series_level = "响应中停在某一上限的数值";
    series_moves = "响应中随响应时间变化的数值";
    java_options = "未生效的 Java 虚拟机选项";
    transactions_failed = "因自身断言而失败的事务";
}
