"""The clients of the soak of pages. Each does one thing, checks all that it receives, and begins again."""
import asyncio
import collections
import hashlib
import json
import random
import time

from PageSoak import content
from PageSoak.wire import Closed, Connection, frame, read_body, read_frame, request

KEY = "dGhlIHNhbXBsZSBub25jZQ=="
LIMIT = 30  # seconds for what is done at once; watchrun holds a request for 10 s


class Clients:
    """The clients of one phase: how often each succeeded, and what went wrong."""

    def __init__(self, ports, files):
        # The ports of the pages: of a directory, a server that saves restart, and one that lasts.
        self.site, self.app, self.last = ports
        self.files = files
        self.counts, self.failures = collections.Counter(), []
        self.ended = asyncio.Event()
        self.evicted = 0
        # The latest revision that each listener of a page has received.
        self.revisions = collections.defaultdict(dict)

    async def run(self, crowd, listeners):
        """Runs all clients until `end`."""
        kinds = [
            (self.files_of_site, 3, 0.2, LIMIT), (self.answers_of_app, 4, 0.2, LIMIT),
            (self.kept, 3, 0.5, LIMIT), (self.download_file, 1, 1, 120),
            (self.download_proxied, 1, 1, 120), (self.slow_file, 4, 1, 120),
            (self.slow_proxied, 4, 1, 120), (self.upload, 2, 0.5, 60),
            (self.slow_upload, 2, 1, 120), (self.given_up, 3, 0.5, LIMIT),
            (self.tunnel, 30, 1, None), (self.quiet_tunnel, 10, 1, None),
            (self.tunnel_of_app, 6, 1, None), (self.events, 30, 1, None),
            (self.events_of_app, 6, 1, None),
        ]
        work = [
            self.repeat(client, pause, limit)
            for client, count, pause, limit in kinds for _ in range(count)]
        work += [self.repeat(lambda p=port: self.crowd(p, crowd // 3), 1, 180, "crowd")
                 for port in (self.site, self.app, self.last)]
        work += [self.repeat(lambda p=port, n=number: self.listen(p, n), 1, None, "listen")
                 for port in (self.site, self.app, self.last) for number in range(listeners // 3)]
        await asyncio.gather(*work)

    async def repeat(self, client, pause, limit, name=None):
        name = name or client.__name__
        while not self.ended.is_set():
            began = time.monotonic()
            try:
                async with asyncio.timeout(limit):
                    await client()
                self.counts[name] += 1
            except Exception as error:  # noqa: BLE001: whatever it is, the claim does not hold
                took = time.monotonic() - began
                self.failures.append(f"{name} after {took:.1f} s: {type(error).__name__}: {error}")
            await self.rest(random.uniform(0, 2 * pause))

    async def rest(self, seconds):
        """Waits so long, or until the phase ends."""
        try:
            await asyncio.wait_for(self.ended.wait(), seconds)
        except TimeoutError:
            pass

    # Short exchanges

    async def files_of_site(self):
        name, size = random.choice(self.files)
        begin = random.randrange(size)
        end = random.randint(begin + 1, min(size, begin + (1 << 20)))
        async with await Connection.open(self.site) as it:
            await it.request("/" + name, Range=f"bytes={begin}-{end - 1}")
            await receive(it, await it.answer(206), content.Check(name, begin), end - begin)
        async with await Connection.open(self.site) as it:
            await it.request(f"/none-{begin}.js", Sec_Fetch_Dest="script")
            await it.body(await it.answer(404))

    async def answers_of_app(self):
        """Answers of a server that saves restart: all of them wait for it, or are asked for again."""
        async with await Connection.open(self.app) as it:
            page = await it.get("/", Accept="text/html")
            if b"<h1>" not in page or b"__watchrun/client.js" not in page:
                raise ValueError(f"no page with the script: {page[:200]}")
        async with await Connection.open(self.app) as it:
            if await it.get(f"/late/{random.uniform(0, 1):.2f}") != b"late":
                raise ValueError("another answer")
        async with await Connection.open(self.app) as it:
            await it.request("/bytes/small/1000")
            await receive(it, await it.answer(), content.Check("small"), 1000)

    async def kept(self):
        """Many requests on one connection, some of them pipelined."""
        name, size = self.files[0]
        port, target = random.choice([
            (self.site, f"/{name}"), (self.last, f"/bytes/{name}/{size}")])
        async with await Connection.open(port) as it:
            for number in range(10):
                count, answered = random.randint(1, 4), 0
                try:
                    await it.send(request(target) * count)
                    while answered < count:
                        await receive(it, await it.answer(), content.Check(name), size)
                        answered += 1
                except (Closed, ConnectionError):
                    # An idle connection may be closed at any time.
                    if number == 0 or answered > 0:
                        raise
                    return
                await self.rest(random.uniform(0, 0.3))

    async def given_up(self):
        """Clients that leave in the middle of anything."""
        target, port = random.choice([
            ("/bytes/gone/10000000", self.last), ("/late/5", self.last), ("/late/5", self.app),
            ("/events", self.last), ("/" + self.files[-1][0], self.site),
            ("/__watchrun/events", self.site), ("/__watchrun/", self.site)])
        async with await Connection.open(port, is_slow=True) as it:
            await it.request(target)
            await self.rest(random.uniform(0, 0.5))

    # Long bodies

    async def download_file(self):
        name, size = self.files[-1]
        async with await Connection.open(self.site) as it:
            await it.request("/" + name)
            await receive(it, await it.answer(), content.Check(name), size)

    async def download_proxied(self):
        size = 32 << 20
        async with await Connection.open(self.last) as it:
            await it.request(f"/bytes/proxied/{size}")
            await receive(it, await it.answer(), content.Check("proxied"), size)

    async def slow_file(self):
        name, size = self.files[1]
        await self.read_slowly(self.site, "/" + name, name, size)

    async def slow_proxied(self):
        await self.read_slowly(self.last, "/bytes/slow/2000000", "slow", 2_000_000)

    async def read_slowly(self, port, target, seed, size):
        async with await Connection.open(port, is_slow=True) as it:
            await it.request(target)
            pause = random.choice([0.001, 0.01, 0.1])
            await receive(it, await it.answer(), content.Check(seed), size, lambda: self.rest(pause))

    async def upload(self):
        size = random.choice([0, 1, 1000, 100_000, 8_000_000])
        await self.send_body("/fast", size, random.choice([True, False]), 0)

    async def slow_upload(self):
        await self.send_body(random.choice(["/slow", "/fast"]), 1_000_000, True, 0.1)

    async def send_body(self, target, size, is_chunked, pause):
        digest = hashlib.sha256()
        fields = {"Transfer_Encoding": "chunked"} if is_chunked else {"Content_Length": size}
        waits = size > 0 and random.choice([True, False])
        if waits:
            fields["Expect"] = "100-continue"
        async with await Connection.open(self.last) as it:
            await it.request(target, "POST", **fields)
            if waits:
                line = await it.reader.readuntil(b"\r\n\r\n")
                if not line.startswith(b"HTTP/1.1 100"):
                    raise ValueError(f"no 100 Continue: {line}")
            for data in content.parts("upload", size):
                digest.update(data)
                await it.send(b"%x\r\n%b\r\n" % (len(data), data) if is_chunked else data)
                if pause:
                    await self.rest(pause)
            if is_chunked:
                await it.send(b"0\r\n\r\n")
            answer = (await it.body(await it.answer())).decode()
            if answer != f"{digest.hexdigest()} {size}":
                raise ValueError(f"uploaded {size}, and the server received {answer}")

    # Connections that last

    async def tunnel(self):
        await self.speak(self.last, random.uniform(5, 60), lambda: random.uniform(0, 1))

    async def quiet_tunnel(self):
        await self.speak(self.last, 200, lambda: 70)

    async def tunnel_of_app(self):
        try:
            await self.speak(self.app, random.uniform(5, 60), lambda: random.uniform(0, 0.5))
        except (asyncio.IncompleteReadError, ConnectionError, Closed):
            pass  # Its server has been restarted.

    async def speak(self, port, seconds, pause):
        async with await Connection.open(port) as it:
            async with asyncio.timeout(LIMIT):
                await it.request(
                    "/echo", Upgrade="websocket", Connection="Upgrade", Sec_WebSocket_Version=13,
                    Sec_WebSocket_Key=KEY)
                await self.upgraded(it, port)
            deadline = time.monotonic() + seconds
            while time.monotonic() < deadline and not self.ended.is_set():
                size = random.choice([0, 10, 200, 70_000])
                data = content.part("message", 0, size)
                async with asyncio.timeout(LIMIT):
                    await it.send(frame(2, data, is_masked=True))
                    if await read_frame(it.reader) != (2, data):
                        raise ValueError(f"another message of {size} bytes")
                await self.rest(pause())
            async with asyncio.timeout(LIMIT):
                await it.send(frame(8, b"\x03\xe8", is_masked=True))
                if await read_frame(it.reader) != (8, b"\x03\xe8"):
                    raise ValueError("it is not closed as asked")

    async def upgraded(self, it, port):
        try:
            await it.answer(101)
        except ValueError as error:
            # A change of protocol cannot be asked for again when the server dies meanwhile.
            if port == self.app and "502" in str(error):
                raise ConnectionError from error
            raise

    async def events(self):
        await self.follow(self.last, random.uniform(5, 90))

    async def events_of_app(self):
        try:
            await self.follow(self.app, random.uniform(5, 90))
        except ConnectionError:
            pass  # Its server has been restarted.

    async def follow(self, port, seconds):
        """Follows numbered events, none of which may be missing."""
        async with await Connection.open(port) as it:
            async with asyncio.timeout(LIMIT):
                await it.request("/events")
                fields = await it.answer()
            deadline, text, number = time.monotonic() + seconds, b"", 0
            parts = read_body(it.reader, fields)
            while time.monotonic() < deadline and not self.ended.is_set():
                async with asyncio.timeout(LIMIT):
                    try:
                        text += await anext(parts)
                    except (asyncio.IncompleteReadError, ValueError) as error:
                        raise ConnectionError("the events end") from error
                *events, text = text.split(b"\n\n")
                for event in events:
                    if event != b"data: %d" % number:
                        raise LookupError(f"{event} instead of {number}")
                    number += 1

    async def listen(self, port, number):
        """Receives the reloads of a page."""
        async with await Connection.open(port) as it:
            await it.request("/__watchrun/events")
            parts, text = read_body(it.reader, await it.answer()), b""
            end = asyncio.ensure_future(self.ended.wait())
            while not self.ended.is_set():
                part = asyncio.ensure_future(anext(parts))
                await asyncio.wait([part, end], return_when=asyncio.FIRST_COMPLETED)
                if not part.done():
                    part.cancel()
                    break
                text += part.result()
                *events, text = text.split(b"\n\n")
                for event in events:
                    if event.startswith(b"data: "):
                        revision = json.loads(event[6:]).get("revision")
                        if revision is not None:
                            self.revisions[port][number] = revision

    async def crowd(self, port, count):
        """Connections that are idle, some of them after a request, and are used again if they may."""
        opened = []
        try:
            for number in range(count):
                opened.append(await Connection.open(port))
                if number % 2:
                    await self.use(opened[-1], is_fresh=True)
            await self.rest(random.uniform(5, 20))
            for it in opened:
                try:
                    await self.use(it, is_fresh=False)
                except (Closed, ConnectionError):
                    self.evicted += 1
        finally:
            for it in opened:
                it.writer.transport.abort()

    async def use(self, it, is_fresh):
        try:
            await it.get("/__watchrun/worker.js")
        except Closed:
            if is_fresh:
                raise ValueError("a request on a new connection is not answered") from None
            raise


async def receive(it, fields, check, size, rest=None):
    """Receives a body, which must be this."""
    async for data in read_body(it.reader, fields):
        check.add(data)
        if rest:
            await rest()
    if check.count != size:
        raise ValueError(f"{check.count} bytes instead of {size}")
