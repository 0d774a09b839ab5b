import Greeting

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

// The smallest server that answers HTTP: one request at a time, on 127.0.0.1 and the port that is its
// argument.

let port = CommandLine.arguments.dropFirst().first.flatMap { UInt16($0) } ?? 8787

func fail(_ call: String) -> Never {
  perror(call)
  exit(1)
}

#if canImport(Glibc)
let stream = Int32(SOCK_STREAM.rawValue)
#else
let stream = SOCK_STREAM
#endif

/// What a client has to say, up to the empty line.
func request(from client: Int32) -> String {
  var text = ""
  var part = [UInt8](repeating: 0, count: 4096)
  while !text.contains("\r\n\r\n"), text.utf8.count < 65_536 {
    let count = read(client, &part, part.count)
    if count <= 0 { break }
    text += String(decoding: part[..<count], as: UTF8.self)
  }
  return text
}

/// A page with one heading.
func page(_ heading: String) -> String {
  let escaped = heading.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
  return "<!doctype html>\n<title>Server</title>\n<h1>\(escaped)</h1>\n"
}

let listener = socket(AF_INET, stream, 0)
if listener < 0 { fail("socket") }
var yes: Int32 = 1
setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))

var address = sockaddr_in()
address.sin_family = sa_family_t(AF_INET)
address.sin_port = port.bigEndian
address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
let bound = withUnsafePointer(to: &address) {
  $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
    bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
  }
}
if bound != 0 { fail("bind") }
if listen(listener, 16) != 0 { fail("listen") }

while true {
  let client = accept(listener, nil, nil)
  if client < 0 { continue }
  defer { close(client) }
  let words = request(from: client).split(separator: " ")
  let text = page(greeting(for: words.count > 1 ? String(words[1]) : "/"))
  let answer =
    "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"
    + "Content-Length: \(text.utf8.count)\r\nConnection: close\r\n\r\n" + text
  _ = Array(answer.utf8).withUnsafeBytes { write(client, $0.baseAddress, $0.count) }
}
