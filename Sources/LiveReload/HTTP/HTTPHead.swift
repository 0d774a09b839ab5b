/// The start line and the header fields of a request.
struct HTTPRequestHead: Sendable {
  var method: String
  /// The path and the query, undecoded.
  var target: [UInt8]
  /// The host of the request: the `Host` field, or the host of a target in absolute form.
  var host: [UInt8]
  /// 1 for HTTP/1.1, 0 for HTTP/1.0.
  var minorVersion: Int
  var fields: HTTPFields
  var framing: HTTPFraming

  /// Whether the client keeps the connection open for another request.
  var keepsAlive: Bool {
    if fields.list("connection", has: "close") { return false }
    return minorVersion >= 1 || fields.list("connection", has: "keep-alive")
  }

  /// Whether the client asks for a WebSocket or another protocol.
  var asksForUpgrade: Bool {
    fields.list("connection", has: "upgrade") && fields.first("upgrade") != nil
  }

  /// The target without the query.
  var path: ArraySlice<UInt8> { target.prefix { $0 != UInt8(ascii: "?") } }

  /// The part of the target after the question mark; empty without one.
  var query: ArraySlice<UInt8> { target.dropFirst(path.count + 1) }
}

/// The status line and the header fields of a response.
struct HTTPResponseHead: Sendable {
  var status: Int
  var reason: [UInt8]
  var minorVersion: Int
  var fields: HTTPFields
  var framing: HTTPFraming

  /// Whether the server keeps the connection open for another request.
  var keepsAlive: Bool {
    if fields.list("connection", has: "close") || framing == .untilClose { return false }
    // Another program may have taken the length for that of the body.
    if framing == .chunked && fields.first("content-length") != nil { return false }
    return minorVersion >= 1 || fields.list("connection", has: "keep-alive")
  }
}

/// The framing of a body.
enum HTTPFraming: Hashable, Sendable {
  /// There is no body.
  case none
  case length(Int)
  case chunked
  /// The body ends with the connection; responses only.
  case untilClose
}

/// A refused message, with the status for the response.
struct HTTPError: Error, Hashable, Sendable {
  var status: Int
  var reason: String
}
