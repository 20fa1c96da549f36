// Echo over WebSockets with Boost.Beast, Debian's C++ library for WebSockets (libboost-dev). The program does the same
// as websocket_loop.c, with the library's handshake, framing and checks, on one thread. It prints one line of JSON.
//
// websocket_beast PORT CONNECTIONS SECONDS SIZE
#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace asio = boost::asio;
namespace beast = boost::beast;
using Clock = std::chrono::steady_clock;

static unsigned long trips = 0;
static Clock::time_point until;

struct Connection : std::enable_shared_from_this<Connection> {
    beast::websocket::stream<asio::ip::tcp::socket> ws;
    beast::flat_buffer in;
    const std::string &text;

    Connection(asio::io_context &io, const std::string &text) : ws(io), text(text) {}

    void say() {
        ws.async_write(asio::buffer(text), [self = shared_from_this()](beast::error_code error, size_t) {
            if (!error) self->hear();
        });
    }

    void hear() {
        ws.async_read(in, [self = shared_from_this()](beast::error_code error, size_t) {
            if (error) return;
            self->in.clear();
            trips++;
            if (Clock::now() < until) self->say();
        });
    }
};

int main(int count, char **words) {
    if (count < 5) return 2;
    asio::io_context io(1);
    asio::ip::tcp::endpoint to(asio::ip::address_v4::loopback(), std::atoi(words[1]));
    int connections = std::atoi(words[2]);
    std::string text(std::atoi(words[4]), 'x');
    std::vector<std::shared_ptr<Connection>> all;
    auto begin = Clock::now();
    for (int n = 0; n < connections; n++) {
        auto one = std::make_shared<Connection>(io, text);
        one->ws.next_layer().connect(to);
        one->ws.next_layer().set_option(asio::ip::tcp::no_delay(true));
        one->ws.handshake("127.0.0.1", "/");
        one->ws.text(true);
        all.push_back(one);
    }
    auto open = Clock::now();
    until = open + std::chrono::milliseconds(long(std::atof(words[3]) * 1000));
    for (auto &one : all) one->say();
    io.run();
    auto seconds = [](auto from, auto to) { return std::chrono::duration<double>(to - from).count(); };
    std::printf("{\"opened_s\": %.3f, \"trips\": %lu, \"seconds\": %.3f}\n", seconds(begin, open), trips, seconds(open, Clock::now()));
}
