// Measures the cost of WebSocket echo without a load generator. Opens CONNECTIONS and sends a masked text message of
// SIZE bytes on each, and the next message when the echo arrives, for SECONDS. Measures and parses nothing but lengths.
// Prints one line of JSON.
//
// websocket_loop PORT CONNECTIONS SECONDS SIZE [HOLD]: with HOLD, opens and holds the connections and sends nothing.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

static const char ask[] =
    "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static uint64_t seed = 88172645463325252u;
static uint32_t random32(void) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (uint32_t)seed;
}

// Writes a masked frame of SIZE bytes into OUT; SIZE must be below 126.
static size_t frame(unsigned char *out, const unsigned char *payload, size_t size) {
    uint32_t mask = random32();
    out[0] = 0x81, out[1] = 0x80 | size;
    memcpy(out + 2, &mask, 4);
    for (size_t n = 0; n < size; n++) out[6 + n] = payload[n] ^ ((unsigned char *)&mask)[n & 3];
    return 6 + size;
}

int main(int argc, char **argv) {
    if (argc < 5) return 2;
    int port = atoi(argv[1]), connections = atoi(argv[2]), hold = argc > 5;
    double seconds = atof(argv[3]);
    size_t size = atoi(argv[4]);
    if (size > 125) return 2;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int poll = epoll_create1(0);
    // Bytes of the current echo received so far, by descriptor.
    static unsigned have[1 << 16];
    unsigned char payload[125], out[160], in[4096];
    memset(payload, 'x', sizeof payload);
    double begin = now();
    for (int n = 0; n < connections; n++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
        if (fd < 0 || fd >= 1 << 16 || connect(fd, (void *)&to, sizeof to)) return perror("connect"), 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        if (send(fd, ask, sizeof ask - 1, 0) != sizeof ask - 1) return perror("send"), 1;
        ssize_t got = recv(fd, in, sizeof in, 0);
        if (got < 12 || memcmp(in + 9, "101", 3)) return fprintf(stderr, "no upgrade\n"), 1;
        struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = fd};
        epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
        if (!hold && send(fd, out, frame(out, payload, size), 0) < 0) return perror("send"), 1;
    }
    double open = now(), until = open + seconds;
    uint64_t trips = 0;
    struct epoll_event events[512];
    while (now() < until) {
        int ready = epoll_wait(poll, events, 512, 100);
        for (int n = 0; n < ready; n++) {
            int fd = events[n].data.fd;
            ssize_t got = recv(fd, in, sizeof in, MSG_DONTWAIT);
            if (got <= 0) {
                if (got < 0 && errno == EAGAIN) continue;
                return fprintf(stderr, "a connection ended\n"), 1;
            }
            have[fd] += got;
            while (have[fd] >= 2 + size) {
                have[fd] -= 2 + size;
                trips++;
                send(fd, out, frame(out, payload, size), MSG_DONTWAIT | MSG_NOSIGNAL);
            }
        }
    }
    printf("{\"opened_s\": %.3f, \"trips\": %lu, \"seconds\": %.3f}\n", open - begin, trips, now() - open);
}
