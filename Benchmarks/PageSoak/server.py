#!/usr/bin/python3
"""The server behind the proxy in the soak of pages.

    server.py PORT PAGE [again]

PAGE is read once, or `again` for each request.
"""
import asyncio
import hashlib
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True

from PageSoak import content  # noqa: E402
from PageSoak.wire import accept_value, frame, read_body, read_frame, read_head  # noqa: E402

EVENT_PAUSE = 0.5  # seconds


class Server:
    def __init__(self, page, reads_again):
        self.page = page
        self.kept = None if reads_again else open(page, "rb").read()

    async def serve(self, reader, writer):
        try:
            while True:
                line, fields = await read_head(reader)
                method, target, _ = line.split()
                if not await self.answer(method, target, fields, reader, writer):
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def answer(self, method, target, fields, reader, writer):
        """Answers a request. Returns whether another one may follow."""
        name, *words = target.strip("/").split("/")
        if method == "POST":
            digest, count = hashlib.sha256(), 0
            async for data in read_body(reader, fields):
                digest.update(data)
                count += len(data)
                if name == "slow":
                    await asyncio.sleep(0.01)
            return await self.send(writer, f"{digest.hexdigest()} {count}".encode())
        if name == "":
            return await self.send(writer, self.kept or open(self.page, "rb").read(), "text/html")
        if name == "bytes":
            seed, size = words[0], int(words[1])
            writer.write(head("application/octet-stream", f"Content-Length: {size}"))
            for data in content.parts(seed, size):
                writer.write(data)
                await writer.drain()
            return True
        if name == "late":
            await asyncio.sleep(float(words[0]))
            return await self.send(writer, b"late")
        if name == "events":
            return await send_events(reader, writer, int(words[0]) if words else None)
        if name == "echo":
            return await echo(fields, reader, writer)
        return await self.send(writer, b"unknown")

    async def send(self, writer, body, kind="text/plain"):
        writer.write(head(kind, f"Content-Length: {len(body)}") + body)
        await writer.drain()
        return True


def head(kind, *fields):
    lines = ["HTTP/1.1 200 OK", f"Content-Type: {kind}", *fields]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


async def send_events(reader, writer, most):
    """Sends numbered events, and nothing more after so many."""
    writer.write(head("text/event-stream", "Transfer-Encoding: chunked"))
    number = 0
    while not writer.is_closing():
        event = f"data: {number}\n\n".encode()
        writer.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")
        await writer.drain()
        number += 1
        await (asyncio.sleep(EVENT_PAUSE) if number != most else reader.read())
    return False


async def echo(fields, reader, writer):
    writer.write("\r\n".join([
        "HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
        f"Sec-WebSocket-Accept: {accept_value(fields['sec-websocket-key'])}", "", ""]).encode())
    while True:
        opcode, data = await read_frame(reader)
        writer.write(frame(opcode, data))
        await writer.drain()
        if opcode == 8:
            return False


async def main(port, page, *options):
    served = Server(page, options == ("again",))
    listener = await asyncio.start_server(served.serve, "127.0.0.1", int(port), backlog=512)
    await listener.serve_forever()


if __name__ == "__main__":
    try:
        asyncio.run(main(*sys.argv[1:]))
    except KeyboardInterrupt:
        pass
