/* A target that answers every GET after a fixed delay, for many thousands of connections.
 *
 *   slow_server PORT DELAY_MS
 *
 * GET /waiting is answered immediately with the number of delayed requests. The server is one
 * process with one epoll loop. All delays are equal, so a queue in order of arrival is a
 * sufficient timer. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MOST 65536

static struct { int fd; unsigned born; double due; } queue[MOST];
/* Generation of the connection that uses a descriptor. Responses to closed connections are dropped. */
static unsigned generation[MOST];
static unsigned head, tail;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void answer(int fd, const char *body) {
    char text[256];
    int n = snprintf(text, sizeof text,
                     "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n\r\n%s",
                     strlen(body), body);
    if (send(fd, text, n, MSG_NOSIGNAL) < 0) generation[fd]++;
}

int main(int argc, char **argv) {
    if (argc != 3) return fprintf(stderr, "slow_server PORT DELAY_MS\n"), 2;
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    double delay = atof(argv[2]);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1]))};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int one = 1, door = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), poll = epoll_create1(0);
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(door, (struct sockaddr *)&at, sizeof at) || listen(door, 16384)) fail("listen");
    struct epoll_event e = {.events = EPOLLIN, .data.fd = door}, events[512];
    epoll_ctl(poll, EPOLL_CTL_ADD, door, &e);
    for (;;) {
        int wait = head == tail ? 1000 : (int)(queue[head % MOST].due - now()) + 1;
        int ready = epoll_wait(poll, events, 512, wait < 0 ? 0 : wait);
        for (int k = 0; k < ready; k++) {
            int fd = events[k].data.fd;
            if (fd == door) {
                int peer;
                while ((peer = accept4(door, 0, 0, SOCK_NONBLOCK)) >= 0) {
                    if (peer >= MOST) { close(peer); continue; }
                    setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
                    e.data.fd = peer;
                    epoll_ctl(poll, EPOLL_CTL_ADD, peer, &e);
                }
                continue;
            }
            char text[4096];
            ssize_t n = recv(fd, text, sizeof text - 1, 0);
            if (n <= 0) {
                generation[fd]++;
                close(fd);
                continue;
            }
            text[n] = 0;
            if (!strncmp(text, "GET /waiting", 12)) {
                char body[32];
                snprintf(body, sizeof body, "%u\n", tail - head);
                answer(fd, body);
            } else if (tail - head < MOST) {
                unsigned slot = tail++ % MOST;
                queue[slot].fd = fd;
                queue[slot].born = generation[fd];
                queue[slot].due = now() + delay;
            }
        }
        for (double t = now(); head != tail && queue[head % MOST].due <= t; head++) {
            int fd = queue[head % MOST].fd;
            if (queue[head % MOST].born == generation[fd]) answer(fd, "done\n");
        }
    }
}
