#!/usr/bin/env python3
"""A service for recorded runs whose behaviour the line of the list says, as Python expressions without spaces.

    service.py PORT [KEY=EXPRESSION …]

Keys, each with its default:

    ms=10         time until the answer, ms; below 0: none comes
    status=200    of the answer; below 0: the connection is cut instead
    body='x'      text of the answer; size=N: as many bytes
    more=''       further header lines, each ended by \\r\\n
    last=0        true: the connection is closed behind the answer, without a word before
    pool=0        requests at once (a number) in a pool, where each stays for hold=0 ms, after `ms`
    nagle=0       true: head and body are written apart, without TCP_NODELAY
    parts=1       the body comes in so many parts, `gap=100` ms apart

Names in expressions: t, seconds since the first request; n, its number; c, its number on its connection; k, the
number of the connection; f, requests in flight with it; path; random(), gauss(1,0.1), exp(x). An expression is asked when the request comes.
"""

import asyncio
import math
import random
import socket
import sys
import time

DEFAULTS = {"ms": "10", "status": "200", "body": "'x'", "size": "0", "more": "''", "last": "0"}
DEFAULTS |= {"pool": "0", "hold": "0", "parts": "1", "gap": "100", "nagle": "0"}


class Service:
    def __init__(self, given):
        unknown = given.keys() - DEFAULTS.keys()
        if unknown:
            sys.exit(f"unknown: {', '.join(sorted(unknown))}")
        self.says = {key: compile(given.get(key, text), key, "eval") for key, text in DEFAULTS.items()}
        self.begin, self.requests, self.connections, self.flying = None, 0, 0, 0
        pool = int(eval(self.says["pool"]))
        self.pool = asyncio.Semaphore(pool) if pool else None

    def names(self, path, at, of):
        self.begin = self.begin or time.monotonic()
        self.requests += 1
        names = {"t": time.monotonic() - self.begin, "n": self.requests, "c": at, "k": of, "f": self.flying, "path": path}
        return names | {"random": random.random, "gauss": random.gauss, "exp": math.exp}

    async def connection(self, reader, writer):
        self.connections += 1
        if eval(self.says["nagle"]):
            writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)
        of, at = self.connections, 0
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                at += 1
                self.flying += 1
                try:
                    stays = await self.answer(writer, self.names(head.split(b" ", 2)[1].decode(), at, of))
                finally:
                    self.flying -= 1
                if not stays:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def answer(self, writer, names):
        """Whether the connection stays."""
        say = {key: eval(code, names) for key, code in self.says.items()}
        if say["ms"] < 0:
            await asyncio.sleep(600)
        await asyncio.sleep(say["ms"] / 1000)
        if self.pool:
            async with self.pool:
                await asyncio.sleep(say["hold"] / 1000)
        if say["status"] < 0:
            return False
        body = say["body"].encode() if not say["size"] else b"x" * int(say["size"])
        head = f"HTTP/1.1 {say['status']} Said\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n{say['more']}\r\n"
        writer.write(head.encode())
        step = max(1, math.ceil(len(body) / say["parts"]))
        for start in range(0, len(body), step):
            if start:
                await asyncio.sleep(say["gap"] / 1000)
            writer.write(body[start : start + step])
            await writer.drain()
        return not say["last"]


async def serve(port, given):
    service = Service(given)
    server = await asyncio.start_server(service.connection, "127.0.0.1", port, backlog=4096)
    print(f"listening on 127.0.0.1:{port}", flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), dict(word.split("=", 1) for word in sys.argv[2:] if "=" in word)))
