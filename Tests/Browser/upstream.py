"""An HTTP server of the standard library to put behind --proxy: pages with headers, and an echo."""
import base64, hashlib, mimetypes, struct, threading
from pathlib import Path
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Upstream(ThreadingHTTPServer):
    """Serves `files`: a text or a file for each path, alone or with headers, or bytes as they are. Echoes WebSockets.

    Refuses uploads before it has read them. `/poll` is answered by nothing, and `gone` set when its client has left.
    `asked` has the paths that were asked for and not found.
    """
    daemon_threads = True

    def __init__(self, files, host="127.0.0.1", port=0):
        super().__init__((host, port), Handler)
        self.files, self.port, self.gone = files, self.server_address[1], threading.Event()
        self.asked = []
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def server_close(self):
        self.shutdown()
        super().server_close()

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.headers.get("Upgrade", "").lower() == "websocket":
            return self.echo()
        path = self.path.split("?")[0]
        if path == "/poll":
            self.close_connection = True
            return self.rfile.read(1) or self.server.gone.set()
        found = self.server.files.get(path)
        if found is None:
            self.server.asked.append(path)
            self.close_connection = True
        if isinstance(found, bytes):
            self.close_connection = True
            return self.wfile.write(found)
        body, headers = found if isinstance(found, tuple) else (found or "not found", {})
        data = body.read_bytes() if isinstance(body, Path) else body.encode()
        kind = mimetypes.guess_type(path)[0] or "text/html"
        self.begin(404 if found is None else 200, {
            "Content-Type": kind, "Content-Length": str(len(data)), **headers})
        self.wfile.write(data)

    def do_POST(self):
        self.close_connection = True
        self.begin(413, {"Content-Length": "3", "Connection": "close"})
        self.wfile.write(b"big")

    def begin(self, status, headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def echo(self):
        self.close_connection = True
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
        self.begin(101, {
            "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Accept": accept})
        while len(head := self.rfile.read(2)) == 2:
            extended = {126: ">H", 127: ">Q"}.get(head[1] & 127)
            size = struct.calcsize(extended) if extended else 0
            more = self.rfile.read(size)
            length = struct.unpack(extended, more)[0] if extended else head[1] & 127
            mask, data = self.rfile.read(4), self.rfile.read(length)
            data = bytes(byte ^ mask[i % 4] for i, byte in enumerate(data))
            self.wfile.write(bytes([head[0], head[1] & 127]) + more + data)
            if head[0] & 15 == 8:
                break
