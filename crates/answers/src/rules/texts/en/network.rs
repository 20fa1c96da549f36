//! English texts about connections and the network.

texts! {
    // Rules in `connections.rs`.
    stale_connections_found(n_words, of, text) =
        "The target closes kept connections between two requests without announcing it: {n_words} of {of} requests failed because theirs was closed already. {text}";
    stale_connections_not_work_of_target =
        "the work of the target: these requests were never answered, and failed at once";
    stale_connections_advice =
        "Let the server keep connections for longer than users pause (keepalive_timeout), or say when it closes them (Connection: close). Browsers send such a request again; httpclient4.retrycount=1 lets the plan do so.";
    churn_by_new_users(of, cost) =
        "The plan makes every iteration a new user: {of}; opening them is {cost} of the response time.";
    churn_by_new_users_advice =
        "Keep it if your users are new each time; else tick \"Same user on each iteration\" in the thread group.";
    churn_by_target(of, share, cost) =
        "The target does not keep connections: {of}, {share} closed by the target; opening them is {cost} of the response time.";
    churn_by_target_advice =
        "Turn on keep-alive in the server or the proxy before it, for longer than users pause; look for Connection: close in its answers and for a small limit of requests per connection.";
    churn_by_plan(of, cost) =
        "The plan asks for no kept connections (Connection: close): {of}; opening them is {cost} of the response time.";
    churn_by_plan_advice =
        "Tick \"Use KeepAlive\" in the samplers, and take a header \"Connection: close\" out of the plan, unless real users do the same.";
    churn_by_generator(of, cost) =
        "Connections are not kept: {of}, most of them closed by the generator; opening them is {cost} of the response time.";
    churn_by_generator_advice =
        "Look for samples that end at time limits, for cancelled answers, and for a short time to live of connections (httpclient4.time_to_live) in the plan's properties.";
    tls_cost_found(of_time, of_cpu, handshakes, whole, again) =
        "TLS handshakes are {of_time} of the response time and {of_cpu} of the generator's processor time: {handshakes} of them, {whole} full and {again} resumed.";
    tls_cost_advice =
        "If real users keep their connections, let the plan keep them (same user on each iteration, https.sessioncontext.shared); else allow resumption at the target, and give the generator more processors.";
    connections_for_requests(opened, all, again) =
        "{opened} connections for {all} requests, {again} reused";

    // Rules in `delayed_ack.rs`.
    delayed_ack_found(late_text, of_text, size, n, all) =
        "{late_text} of {of_text} pass between the first byte of an answer and its last, of {size} bytes in all ({n} of {all} answers kept at random): the target probably sends an answer in two pieces, and holds back the second until the first is acknowledged, which takes 40 ms.";
    delayed_ack_not_load = "the load: this time is the same at any load";
    delayed_ack_advice =
        "Let the target write head and body in one piece, or set TCP_NODELAY on its connections. Clients on Linux see the same delay.";

    // Rules in `network.rs`.
    network_loss_found(n, of, whose, part, way) =
        "{n} of {of} TCP segments of {whose} ({part}) were sent again{way}: response times may contain waits of 200 ms and more because of it.";
    network_loss_advice =
        "The network or an overloaded receiver loses packets: look at drops of interfaces and switches, and at the target's processors.";
    bandwidth_receiving = "receiving";
    bandwidth_sending = "sending";
    bandwidth_line_is_full(each, line, part, verb) =
        "The line is full: {each} per second, flat{line}, and {part} of the response time passes in {verb}.";
    bandwidth_flat_rate(each, part, verb) =
        "{each} per second, flat, and {part} of the response time passes in {verb}: a full line, or bodies that are sent slowly.";
    bandwidth_advice =
        "Compress or shorten answers, or use a faster line; look for a cap of the virtual machine or the proxy.";
    most_sent_again_to(to) = ", most of them to {to}";
    connections_of_own_run = "the run's connections (about)";
    generator_machine = "the generator's machine";
    full_line(line) = ", a full line of {line:.0} Mbit/s";
}
