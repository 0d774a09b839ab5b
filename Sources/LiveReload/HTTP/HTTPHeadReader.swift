import Support

/// Parses the lines of a head: the start line, the fields, and the framing of the body.
enum HTTPHeadReader {
  /// - Parameter isLenient: Whether the field may be folded, and its name be followed by spaces, which are
  ///   removed (RFC 9112, 5.1 and 5.2).
  static func readField(
    _ line: ArraySlice<UInt8>, into fields: inout HTTPFields, isLenient: Bool = false
  ) throws(HTTPError) {
    if line.contains(where: { $0 < 32 && $0 != 9 || $0 == 127 }) {
      throw HTTPError(status: 400, reason: "a header field contains a control character")
    }
    if line.first?.isBlankASCII == true {
      if isLenient, fields.extendLast(by: line.trimmedBlanks) { return }
      throw HTTPError(status: 400, reason: "a header field is folded")
    }
    let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.startIndex
    let name = isLenient ? line[..<colon].trimmedBlanks : line[..<colon]
    guard !name.isEmpty, name.allSatisfy(\.isToken) else {
      throw HTTPError(status: 400, reason: "a header field has an invalid name")
    }
    fields.append(name, line[(colon + 1)...].trimmedBlanks)
  }

  static func request(
    _ line: ArraySlice<UInt8>, _ fields: HTTPFields
  ) throws(HTTPError) -> HTTPRequestHead {
    let parts = line.split(separator: 32, omittingEmptySubsequences: false)
    guard parts.count == 3, !parts[0].isEmpty, parts[0].allSatisfy(\.isToken),
      parts[0].count <= 32, !parts[1].isEmpty,
      parts[1].allSatisfy({ $0 > 32 && $0 != 127 && $0 != UInt8(ascii: "#") })
    else { throw HTTPError(status: 400, reason: "the request line is malformed") }
    let minorVersion = try version(parts[2])
    let hosts = fields.all("host")
    if hosts.count > 1 || hosts.isEmpty && minorVersion >= 1 {
      throw HTTPError(status: 400, reason: "exactly one Host field is required")
    }
    let method = String(decoding: parts[0], as: UTF8.self)
    let (target, host) = try resolve(parts[1], method, host: Array(hosts.first ?? []))
    return HTTPRequestHead(
      method: method, target: target, host: host, minorVersion: minorVersion, fields: fields,
      framing: try requestFraming(fields, minorVersion))
  }

  /// Splits a target into its path with query, and its host.
  private static func resolve(
    _ target: ArraySlice<UInt8>, _ method: String, host: [UInt8]
  ) throws(HTTPError) -> (target: [UInt8], host: [UInt8]) {
    if target.first == UInt8(ascii: "/") { return (Array(target), host) }
    if method == "OPTIONS" && target.elementsEqual("*".utf8) { return (Array(target), host) }
    guard method != "CONNECT", let (authority, path) = target.splitURL(after: "http://") else {
      throw HTTPError(status: 400, reason: "the target of the request is malformed")
    }
    if authority.isEmpty || authority.contains(UInt8(ascii: "@")) {
      throw HTTPError(status: 400, reason: "the target of the request has an invalid host")
    }
    let slash = path.first == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")]
    return (slash + path, Array(authority))
  }

  static func response(
    _ line: ArraySlice<UInt8>, _ fields: HTTPFields, to method: String
  ) throws(HTTPError) -> HTTPResponseHead {
    let parts = line.split(separator: 32, maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count >= 2, parts[1].count == 3, let status = decimal(parts[1]),
      (100...999).contains(status)
    else { throw HTTPError(status: 502, reason: "the status line is malformed") }
    let reason = parts.count == 3 ? Array(parts[2].filter { $0 >= 32 && $0 != 127 }) : []
    let minorVersion = try version(parts[0])
    return HTTPResponseHead(
      status: status, reason: reason, minorVersion: minorVersion, fields: fields,
      framing: try responseFraming(fields, status, to: method))
  }

  private static func version(_ word: ArraySlice<UInt8>) throws(HTTPError) -> Int {
    if word.elementsEqual("HTTP/1.1".utf8) { return 1 }
    if word.elementsEqual("HTTP/1.0".utf8) { return 0 }
    if word.starts(with: "HTTP/".utf8) {
      throw HTTPError(status: 505, reason: "only HTTP/1.1 and HTTP/1.0 are supported")
    }
    throw HTTPError(status: 400, reason: "the HTTP version is missing")
  }

  // MARK: - The body

  private static func requestFraming(
    _ fields: HTTPFields, _ minorVersion: Int
  ) throws(HTTPError) -> HTTPFraming {
    let codings = fields.all("transfer-encoding")
    let length = try contentLength(fields, ofResponse: false)
    if codings.isEmpty { return length.map { $0 == 0 ? .none : .length($0) } ?? .none }
    if length != nil { throw HTTPError(status: 400, reason: "the body has two lengths") }
    if minorVersion == 0 {
      throw HTTPError(status: 400, reason: "HTTP/1.0 does not support transfer codings")
    }
    guard codings.count == 1, codings[0].equalsIgnoringCase("chunked") else {
      throw HTTPError(status: 501, reason: "the only supported transfer coding is chunked")
    }
    return .chunked
  }

  private static func responseFraming(
    _ fields: HTTPFields, _ status: Int, to method: String
  ) throws(HTTPError) -> HTTPFraming {
    if method == "HEAD" || status < 200 || status == 204 || status == 304 { return .none }
    let codings = fields.list("transfer-encoding").filter { !$0.elementsEqual("identity".utf8) }
    guard codings.joined().allSatisfy(\.isToken) else {
      throw HTTPError(status: 502, reason: "a transfer coding is malformed")
    }
    // With a coding, a length does not count, as for browsers.
    if codings.isEmpty {
      return try contentLength(fields, ofResponse: true).map { .length($0) } ?? .untilClose
    }
    // Codings below chunks are the client's to undo.
    switch codings.firstIndex(of: Array("chunked".utf8)) {
    case nil: return .untilClose
    case codings.count - 1: return .chunked
    default: throw HTTPError(status: 502, reason: "chunks are not the last transfer coding")
    }
  }

  /// The length of a body. Duplicates that are equal are one in a response (RFC 9110, 8.6).
  static func contentLength(_ fields: HTTPFields, ofResponse: Bool) throws(HTTPError) -> Int? {
    let values = fields.all("content-length").flatMap { value in
      ofResponse
        ? value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
          .map(\.trimmedBlanks) : [value]
    }
    guard let value = values.first else { return nil }
    guard let length = decimal(value), ofResponse || values.count == 1,
      values.allSatisfy({ decimal($0) == length })
    else { throw HTTPError(status: 400, reason: "the length of the body is malformed") }
    return length
  }

  /// Parses a number of at most 17 digits.
  static func decimal(_ digits: some Collection<UInt8>) -> Int? {
    digits.count <= 17 ? digits.decimal() : nil
  }
}
