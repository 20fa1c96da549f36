"""Simulates the exporter of a firewall, at 10.77.0.2:9101 in the gateway's network. The firewall has a session for each connection to
and from the gateway, until a minute after its end. Metrics are named as by snmp_exporter for Palo Alto Networks."""

import http.server


class Metrics(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with open("/proc/net/sockstat", encoding="ascii") as file:
            words = next(line for line in file if line.startswith("TCP:")).split()
        figures = dict(zip(words[1::2], map(int, words[2::2])))
        text = f"panSessionActive {figures['inuse'] + figures['tw']}\npanSessionMax 262144\n".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("10.77.0.2", 9101), Metrics).serve_forever()
