"""HTTP and WebSockets for both sides of the soak, with whatever pace and buffer a side wants."""
import asyncio
import base64
import hashlib
import socket
import struct

SMALL_BUFFER = 16 * 1024


class Closed(Exception):
    """The peer has closed the connection before the first byte of an answer."""


class Connection:
    """A connection of a client."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    @classmethod
    async def open(cls, port, is_slow=False):
        connected = socket.socket()
        try:
            connected.setblocking(False)
            if is_slow:
                connected.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_BUFFER)
            await asyncio.get_running_loop().sock_connect(connected, ("127.0.0.1", port))
            limit = SMALL_BUFFER if is_slow else 1 << 18
            return cls(*await asyncio.open_connection(sock=connected, limit=limit))
        except BaseException:
            connected.close()
            raise

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        self.writer.transport.abort()

    async def request(self, target, method="GET", **fields):
        await self.send(request(target, method, **fields))

    async def send(self, data):
        self.writer.write(data)
        await self.writer.drain()

    async def answer(self, status=200):
        """The fields of an answer, which must have this status."""
        try:
            found, fields = await read_head(self.reader)
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            if getattr(error, "partial", b""):
                raise
            raise Closed("closed without an answer") from error
        if int(found.split()[1]) != status:
            raise ValueError(f"{found} instead of {status}: {(await self.body(fields))[:200]}")
        return fields

    async def body(self, fields):
        return b"".join([part async for part in read_body(self.reader, fields)])

    async def get(self, target, **fields):
        await self.request(target, **fields)
        return await self.body(await self.answer())


def request(target, method="GET", **fields):
    """The head of a request."""
    lines = [f"{method} {target} HTTP/1.1", "Host: localhost"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


async def read_head(reader):
    """The first line of a message, and its fields."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    return head[0], {
        name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])
        if name}


async def read_body(reader, fields, size=1 << 16):
    """The parts of a body, as they arrive."""
    if fields.get("transfer-encoding") == "chunked":
        while count := int(await reader.readline(), 16):
            while count:
                data = await exactly(reader, min(count, size))
                count -= len(data)
                yield data
            await reader.readexactly(2)
        await reader.readexactly(2)
    else:
        left = int(fields.get("content-length", 0))
        while left:
            data = await exactly(reader, min(left, size))
            left -= len(data)
            yield data


async def exactly(reader, most):
    """What has arrived, at most so much; fails at the end."""
    data = await reader.read(most)
    if not data:
        raise ConnectionError("the body ends too early")
    return data


def accept_value(key):
    digest = hashlib.sha1(key.encode() + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
    return base64.b64encode(digest).decode()


def frame(opcode, data, is_masked=False):
    """A frame of a WebSocket. The mask is one that changes nothing."""
    count = len(data)
    mask = 0x80 if is_masked else 0
    if count < 126:
        head = struct.pack(">BB", 0x80 | opcode, mask | count)
    elif count < 1 << 16:
        head = struct.pack(">BBH", 0x80 | opcode, mask | 126, count)
    else:
        head = struct.pack(">BBQ", 0x80 | opcode, mask | 127, count)
    return head + bytes(4 if is_masked else 0) + data


async def read_frame(reader):
    """The opcode and the payload of a frame."""
    first, second = await reader.readexactly(2)
    count = second & 127
    if count >= 126:
        size = 2 if count == 126 else 8
        count = int.from_bytes(await reader.readexactly(size), "big")
    mask = await reader.readexactly(4) if second & 128 else bytes(4)
    data = await reader.readexactly(count)
    if any(mask):
        data = bytes(byte ^ mask[n % 4] for n, byte in enumerate(data))
    return first & 15, data
