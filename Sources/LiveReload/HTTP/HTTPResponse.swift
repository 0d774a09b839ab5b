/// A complete response that the server makes itself.
struct HTTPResponse {
  enum Body {
    case bytes([UInt8])
    /// A part of an open file.
    case file(ByteStream.OpenFile, offset: Int64, count: Int)
  }

  var status: Int
  var fields = HTTPFields()
  var body = Body.bytes([])

  /// - Parameter isKept: Whether browsers may keep it.
  init(_ status: Int, _ body: [UInt8] = [], type: String? = nil, isKept: Bool = true) {
    self.status = status
    self.body = .bytes(body)
    if let type { fields.append("Content-Type", type) }
    if !isKept { fields.append("Cache-Control", "no-store") }
  }

  init(_ status: Int, _ file: ByteStream.OpenFile, offset: Int64, count: Int) {
    self.status = status
    body = .file(file, offset: offset, count: count)
  }

  var length: Int {
    switch body {
    case .bytes(let bytes): bytes.count
    case .file(_, _, let count): count
    }
  }

  /// Whether there is a body, except in an answer to HEAD.
  var hasBody: Bool { status != 304 && status != 204 }

  /// The reason phrase of a status that the server itself sends.
  static func reason(of status: Int) -> String {
    switch status {
    case 200: "OK"
    case 204: "No Content"
    case 206: "Partial Content"
    case 301: "Moved Permanently"
    case 304: "Not Modified"
    case 400: "Bad Request"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 409: "Conflict"
    case 413: "Content Too Large"
    case 414: "URI Too Long"
    case 416: "Range Not Satisfiable"
    case 431: "Request Header Fields Too Large"
    case 501: "Not Implemented"
    case 502: "Bad Gateway"
    case 503: "Service Unavailable"
    case 505: "HTTP Version Not Supported"
    default: ""
    }
  }
}

extension HTTPResponse {
  static func text(_ status: Int, _ text: String) -> HTTPResponse {
    HTTPResponse(status, Array((text + "\n").utf8), type: "text/plain; charset=utf-8")
  }
}
