//! Chinese texts about data that a rule lacks.

texts! {
    // Rules in `backends.rs`.
    labels_of_each_address = "每个地址所服务的标签";
    several_addresses_or_header_values = "同一服务的多个地址或响应头取值";

    // Rules in `bimodal.rs`.
    thirty_seconds_of_same_load = "30 秒不变的负载";

    // Rules in `concurrency.rs`.
    thirty_seconds_of_full_load = "轻负载之后 30 秒的满负载：使用 --ramp 30s --hold 30s 运行";
    hundred_requests = "100 个请求";
    number_of_users = "用户数";

    // Rules in `connections.rs`.
    counters_of_connections = "连接计数";
    counters_of_tls_handshakes = "TLS 握手计数";

    // Rules in `constant_load.rs`.
    ten_seconds_of_same_load = "10 秒不变的负载和 100 个请求";

    // Rules in `course.rs`.
    sixty_seconds_of_same_load = "60 秒不变的负载";

    // Rules in `delayed_ack.rs`.
    twenty_answers_with_phases = "20 个保留的带各阶段时间的响应";

    // Rules in `down.rs`.
    any_requests = "请求";

    // Rules in `errors.rs`.
    success_column = "success 列";

    // Rules in `generator.rs`.
    figures_of_generator = "负载机自身的数据";

    // Rules in `host_ports.rs`.
    time_wait_of_watched_host = "被监视主机上处于 TIME_WAIT 的连接数（--watch NAME=URL，指向 node_exporter）";

    // Rules in `hosts.rs`.
    connections_opened_by_watched_host = "被监视主机打开的连接（--watch NAME=URL，指向 node_exporter）";
    similar_watched_hosts = "名称如 gateway-1、gateway-2 的同类被监视主机";
    processors_of_watched_host = "被监视主机的处理器（--watch NAME=URL，指向 node_exporter）";
    five_seconds_of_little_load = "五秒低负载的时间（在开始时或暂停期间）";

    // Rules in `java.rs`.
    pauses_of_watched_java = "被监视 Java 虚拟机的停顿（--watch NAME=URL，指向其 exporter）";

    // Rules in `machine.rs`.
    figures_of_generator_machine = "负载机所在机器的数据";

    // Rules in `network.rs`.
    phases_of_requests = "请求各阶段的时间";

    // Rules in `pace.rs`.
    required_rate = "所要求的速率（如果有）";
    users_that_wait = "等待响应的用户：此处后来的用户大多在暂停，直到请求到期";

    // Rules in `ports.rs`.
    number_of_free_ports = "空闲端口数";

    // Rules in `queue_grows.rs`.
    six_seconds_of_same_rate = "6 秒以相同速率启动用户（--rps）";

    // Rules in `resets.rs`.
    lighter_load_after_first_reset = "首次重置之后的较轻负载：在此之前，时间与负载同样能解释重置";

    // Rules in `sessions.rs`.
    sessions_of_watched_host = "防火墙或负载均衡器的会话数（--watch NAME=URL，指向 snmp_exporter）";
    readings_of_sessions(least) = "{least} 次会话数读数：请运行更久";

    // Rules in `slow_phase.rs`.
    twelve_seconds_of_same_load = "12 秒不变的负载和 200 个请求";

    // Rules in `slows.rs`.
    growing_load_at_same_speed = "负载增长而被测系统保持同样速度的时段：此处响应也随时间变慢，throng capacity 可以区分两者";

    // Rules in `stalls.rs`.
    completions_of_100_ms = "每 100 ms 的完成数";
    generator_with_free_processors = "处理器未满的负载机：此处不到 400 ms 的间隙可能是其自身造成的";

    // Rules in `timeouts.rs`.
    times_of_connects = "连接建立时间";
    new_connections = "新建的连接";
}
