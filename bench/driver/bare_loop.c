/* Measures the minimum cost of a load generator: one epoll loop, one send and one receive per
 * request, no statistics, and no parsing except for the length of the response.
 *
 *   bare_loop PORT PATH CONNECTIONS SECONDS
 *
 * The first response on each connection is read to its end by Content-Length. All later responses
 * are assumed to have that length, which is true for the static targets of the benches. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static char buffer[1 << 18];

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static int dial(int port) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to)) fail("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

/* Returns the length in bytes of one whole response: head, empty line and body. */
static long probe(int fd, const char *request, size_t length) {
    long have = 0;
    if (send(fd, request, length, 0) != (ssize_t)length) fail("send");
    for (;;) {
        ssize_t n = recv(fd, buffer + have, sizeof buffer - 1 - have, 0);
        if (n <= 0) fail("recv");
        have += n;
        buffer[have] = 0;
        char *end = strstr(buffer, "\r\n\r\n"), *field = strcasestr(buffer, "\r\ncontent-length:");
        if (!end || !field) continue;
        long whole = end + 4 - buffer + atol(field + 17);
        if (have >= whole) return whole;
    }
}

int main(int argc, char **argv) {
    if (argc != 5) return fprintf(stderr, "bare_loop PORT PATH CONNECTIONS SECONDS\n"), 2;
    int port = atoi(argv[1]), connections = atoi(argv[3]);
    char request[512];
    size_t length = snprintf(request, sizeof request,
                             "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", argv[2], port);
    int poll = epoll_create1(0);
    int *fds = calloc(connections, sizeof *fds);
    long *left = calloc(connections, sizeof *left), answer = 0, done = 0;
    for (int i = 0; i < connections; i++) {
        fds[i] = dial(port);
        answer = probe(fds[i], request, length);
        struct epoll_event e = {.events = EPOLLIN, .data.u32 = i};
        if (epoll_ctl(poll, EPOLL_CTL_ADD, fds[i], &e)) fail("epoll_ctl");
    }
    for (int i = 0; i < connections; i++) {
        left[i] = answer;
        if (send(fds[i], request, length, 0) != (ssize_t)length) fail("send");
    }
    struct epoll_event events[256];
    double end = now() + atof(argv[4]);
    while (now() < end) {
        int ready = epoll_wait(poll, events, 256, 100);
        for (int k = 0; k < ready; k++) {
            int i = events[k].data.u32;
            ssize_t n = recv(fds[i], buffer, sizeof buffer, 0);
            if (n <= 0) fail("recv");
            left[i] -= n;
            if (left[i] > 0) continue;
            done++;
            left[i] = answer;
            if (send(fds[i], request, length, 0) != (ssize_t)length) fail("send");
        }
    }
    printf("%ld requests\n", done);
    return 0;
}
