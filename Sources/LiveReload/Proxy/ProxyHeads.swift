import Support

/// The changes that a proxy makes to forwarded heads.
enum ProxyHeads {
  /// The hop-by-hop fields (RFC 9110, 7.6.1).
  static let hopByHop = [
    "connection", "keep-alive", "proxy-connection", "proxy-authenticate", "te",
    "transfer-encoding", "upgrade",
  ]
  /// The fields without which a body is not understood.
  static let ofContent = ["content-encoding", "content-length", "content-range", "content-type"]

  /// The fields after a body for the other side: those that cannot be taken for what is in a head.
  static func trailers(_ fields: HTTPFields) -> HTTPFields {
    var trailers = fields
    for name in hopByHop + ofContent + ["host", "trailer"] { trailers.remove(name) }
    return trailers
  }

  /// The fields that a proxy passes on, with their names in lowercase, but for these.
  private static func passedOn(
    _ fields: HTTPFields, without dropped: [String]
  ) -> [(key: String, name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] {
    let dropped = hopByHop + fields.list("connection").map(\.decoded) + dropped
    return fields.pairs.compactMap { name, value in
      let key = name.lowercasedASCII.decoded
      return dropped.contains(key) ? nil : (key, name, value)
    }
  }

  /// The documents to which the script is added in the response to a request; `nil` for none.
  static func scriptScope(_ request: HTTPRequestHead) -> ScriptInjector.Scope? {
    guard request.method == "GET" || request.method == "HEAD" else { return nil }
    if let destination = request.fields.first("sec-fetch-dest") {
      // A service worker that passes a navigation on has no destination.
      // A prefetched document has none either, and is shown without another request.
      let mayBeEmpty =
        request.fields.list("sec-fetch-mode", has: "navigate")
        || request.fields.list("sec-purpose", has: "prefetch")
      let documents = ["document", "iframe", "frame"] + (mayBeEmpty ? ["empty"] : [])
      return documents.contains { destination.equalsIgnoringCase($0) } ? .anyDocument : nil
    }
    // Browsers send the fields above only to secure addresses and to this machine.
    if request.fields.first("upgrade-insecure-requests") != nil { return .anyDocument }
    if fragmentFields.contains(where: { request.fields.first($0) != nil })
      || request.fields.list("x-requested-with", has: "xmlhttprequest")
    {
      return nil
    }
    guard request.fields.first("accept") != nil else { return .anyDocument }
    let acceptsHTML = request.fields.list("accept").contains {
      $0.starts(with: "text/html".utf8) || $0.starts(with: "*/*".utf8)
    }
    return acceptsHTML ? .wholeDocuments : nil
  }

  /// The documents to which the script is added if they are in this response; `nil` if it is none.
  static func scriptScope(
    _ request: HTTPRequestHead, _ response: HTTPResponseHead
  ) -> ScriptInjector.Scope? {
    let disposition = response.fields.first("content-disposition")
    guard ![204, 206, 304].contains(response.status),
      disposition?.prefix(10).equalsIgnoringCase("attachment") != true,
      let type = response.fields.first("content-type"), MediaType.isHTML(type)
    else { return nil }
    return scriptScope(request)
  }

  /// The fields of scripts that request parts of a page.
  private static let fragmentFields = ["hx-request", "turbo-frame", "x-pjax", "x-up-version"]

  /// The head of a request for the server.
  static func request(
    _ request: HTTPRequestHead, to upstream: ServerAddress, from peer: String
  ) -> [UInt8] {
    let line = Array("\(request.method) \(upstream.basePath)".utf8) + target(request)
    var fields = HTTPFields()
    // A server on this machine receives the browser's host name, so that its links and its checks
    // of origins are right. A remote one may need its own name.
    if upstream.isLocal {
      fields.append("Host", request.host)
    } else {
      fields.append("Host", upstream.authority)
    }
    let isForDocument = scriptScope(request) != nil
    let isForBrowser = ["sec-fetch-dest", "upgrade-insecure-requests"]
      .contains { request.fields.first($0) != nil }
    // A document may be in the browser's cache without the script, as another script has fetched it.
    let dropped =
      replaced + (request.minorVersion == 0 ? ["expect"] : [])
      + (isForDocument ? ["accept-encoding"] : [])
      + (isForDocument && isForBrowser ? ["if-none-match", "if-modified-since"] : [])
    for (key, name, value) in passedOn(request.fields, without: dropped) {
      let isForeign = key == "origin" && !upstream.isLocal
      fields.append(name, isForeign ? origin(value, request, upstream) : Array(value))
    }
    if isForDocument { fields.append("Accept-Encoding", "identity") }
    // Those that are for this connection alone are not passed on.
    let isKept = !request.fields.list("connection", has: "x-forwarded-for")
    let forwarded = isKept ? request.fields.all("x-forwarded-for") : []
    fields.append("X-Forwarded-For", forwarded.flatMap { $0 + ", ".word } + peer.word)
    fields.append("X-Forwarded-Host", request.host)
    fields.append("X-Forwarded-Proto", "http")
    appendConnection(request, to: &fields)
    return fields.written(after: line + Array(" HTTP/1.1".utf8))
  }

  /// The target without the parameter with which the script asks for a style sheet once more.
  private static func target(_ request: HTTPRequestHead) -> [UInt8] {
    guard let start = request.target.firstIndex(of: UInt8(ascii: "?")) else {
      return request.target
    }
    let query = request.target[(start + 1)...].split(
      separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
    let rest = query.filter { !$0.starts(with: "watchrun=".utf8) }
    if rest.count == query.count { return request.target }
    let path = request.target[..<start]
    return rest.isEmpty ? Array(path) : path + [63] + rest.joined(separator: "&".utf8)
  }

  private static let replaced = [
    "host", "content-length", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto",
  ]

  private static func appendConnection(_ request: HTTPRequestHead, to fields: inout HTTPFields) {
    if request.asksForUpgrade, let protocols = request.fields.first("upgrade") {
      fields.append("Connection", "Upgrade")
      fields.append("Upgrade", protocols)
    } else if request.fields.list("te", has: "trailers") {
      fields.append("Connection", "TE")
      fields.append("TE", "trailers")
    }
    switch request.framing {
    case .length(let count): fields.append("Content-Length", String(count))
    case .chunked: fields.append("Transfer-Encoding", "chunked")
    case .none, .untilClose:
      if request.fields.first("content-length") != nil { fields.append("Content-Length", "0") }
    }
  }

  /// Replaces the page's origin by the server's, so that the server accepts requests of its own pages.
  private static func origin(
    _ value: ArraySlice<UInt8>, _ request: HTTPRequestHead, _ upstream: ServerAddress
  ) -> [UInt8] {
    let own = Array("http://".utf8) + request.host
    return value.elementsEqual(own) ? Array("http://\(upstream.authority)".utf8) : Array(value)
  }

  /// The fields of a response for the client, without length and framing.
  static func response(
    _ response: HTTPResponseHead, to request: HTTPRequestHead, from upstream: ServerAddress
  ) -> HTTPFields {
    var fields = HTTPFields()
    let passedOn = passedOn(response.fields, without: ["content-length", "cache-control"])
    for (key, name, value) in passedOn {
      switch key {
      case "location", "content-location": fields.append(name, location(value, upstream))
      case "refresh": fields.append(name, refresh(value, upstream))
      case "set-cookie": fields.append(name, cookie(value, upstream))
      default: fields.append(name, value)
      }
    }
    // Without a body, and in HTTP/1.0, there are none.
    if response.framing != .none && request.minorVersion > 0 {
      for coding in codings(of: response) { fields.append("Transfer-Encoding", coding) }
    }
    if mayBeKept(response) {
      fields.append("Cache-Control", caching(response.fields.all("cache-control")))
    }
    if isFile(response, for: request) && changedJustNow(fields) {
      for name in ["etag", "last-modified"] { fields.remove(name) }
    }
    return fields
  }

  /// The codings of a body that only a client can undo: how the connection is used is the proxy's, what is sent on it
  /// is not.
  static func codings(of response: HTTPResponseHead) -> [[UInt8]] {
    response.fields.list("transfer-encoding").filter { coding in
      !["chunked", "identity"].contains { coding.elementsEqual($0.utf8) }
    }
  }

  /// Whether a browser would keep an answer: as long as the fields say, by a guess from the time of the last change, or
  /// for ever.
  private static func mayBeKept(_ response: HTTPResponseHead) -> Bool {
    ["cache-control", "expires", "last-modified"].contains { response.fields.first($0) != nil }
      || [300, 301, 308, 410].contains(response.status)
  }

  /// The directives of an answer that a browser may keep, but asks for before it uses it again: the scripts of a page
  /// that is reloaded would otherwise come from its cache for as long as the server, or a guess, permits.
  private static func caching(_ values: [ArraySlice<UInt8>]) -> [UInt8] {
    let lasting = ["max-age", "s-maxage", "immutable", "stale-", "no-cache"]
    var kept = values.flatMap(directives).filter { directive in
      !lasting.contains { directive.starts(with: $0.utf8) }
    }
    // First, where no quote that is not closed can hide it.
    if !kept.contains(Array("no-store".utf8)) { kept.insert(Array("no-cache".utf8), at: 0) }
    return Array(kept.joined(separator: Array(", ".utf8)))
  }

  /// The directives of a value, in lowercase, with commas in their quoted strings.
  private static func directives(_ value: ArraySlice<UInt8>) -> [[UInt8]] {
    var (isQuoted, isEscaped) = (false, false)
    return value.split { byte in
      defer { isEscaped = isQuoted && !isEscaped && byte == UInt8(ascii: "\\") }
      if byte == UInt8(ascii: "\"") && !isEscaped { isQuoted.toggle() }
      return byte == UInt8(ascii: ",") && !isQuoted
    }.map { $0.trimmedBlanks.lowercasedASCII }.filter { !$0.isEmpty }
  }

  /// Whether a file may change again without another time of change, and so with the same validators: many servers
  /// make them of whole seconds.
  private static func changedJustNow(_ fields: HTTPFields) -> Bool {
    guard let modified = fields.first("last-modified").flatMap(HTTPDate.seconds(in:)),
      let sent = fields.first("date").flatMap(HTTPDate.seconds(in:))
    else { return false }
    return sent - modified < 2
  }

  /// Whether a browser may keep what is sent for a page. The validators of other answers, such as those of an API, are
  /// for scripts.
  private static func isFile(_ response: HTTPResponseHead, for request: HTTPRequestHead) -> Bool {
    request.method == "GET" && [200, 206].contains(response.status)
      && request.fields.first("sec-fetch-dest")?.equalsIgnoringCase("empty") != true
      && response.fields.first("content-type").map(MediaType.isJSON) != true
  }

  /// Replaces the server's origin in an address by the page's.
  private static func location(
    _ value: ArraySlice<UInt8>, _ upstream: ServerAddress
  ) -> [UInt8] {
    var path: ArraySlice<UInt8>?
    if let (authority, rest) = value.splitURL(after: "http://") ?? value.splitURL(after: "//"),
      let address = Authority(authority), upstream.isReached(at: address)
    {
      path = rest
    }
    path = belowBase(path ?? value, upstream) ?? path
    // Browsers would take what follows two slashes for a host, and they remove tabs.
    return path.map { [UInt8(ascii: "/")] + $0.drop { "/\\\t".utf8.contains($0) } } ?? Array(value)
  }

  /// The part of a path below that of the server; `nil` if the server has none, or the path is another one.
  private static func belowBase(
    _ path: ArraySlice<UInt8>, _ upstream: ServerAddress
  ) -> ArraySlice<UInt8>? {
    let base = Array(upstream.basePath.utf8)
    let rest = path.dropFirst(base.count)
    guard !base.isEmpty, path.starts(with: base),
      rest.first.map({ "/?#".utf8.contains($0) }) ?? true
    else { return nil }
    return rest
  }

  /// Replaces the server's origin in the address of a `Refresh`, such as `5; url=/next`.
  private static func refresh(_ value: ArraySlice<UInt8>, _ upstream: ServerAddress) -> [UInt8] {
    guard let equals = value.firstIndex(of: UInt8(ascii: "=")),
      value[..<equals].trimmedBlanks.suffix(3).equalsIgnoringCase("url")
    else { return Array(value) }
    let quotes = [UInt8(ascii: "\""), UInt8(ascii: "'")]
    var address = value[(equals + 1)...].trimmedBlanks
    if let quote = address.first, quotes.contains(quote) {
      address = address.dropFirst().prefix { $0 != quote }
    }
    return value[...equals] + location(address, upstream)
  }

  /// Replaces the server's domain in a cookie by the page's host, and its path by the page's.
  private static func cookie(
    _ value: ArraySlice<UInt8>, _ upstream: ServerAddress
  ) -> [UInt8] {
    let parts = value.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
    let kept = parts.enumerated().compactMap { place, part -> [UInt8]? in
      let attribute = part.trimmedBlanks
      if place == 0 { return Array(part) }
      if attribute.prefix(7).equalsIgnoringCase("domain=") { return nil }
      guard attribute.prefix(5).equalsIgnoringCase("path="),
        let path = belowBase(attribute.dropFirst(5).trimmedBlanks, upstream)
      else { return Array(part) }
      return Array(" Path=/".utf8) + path.drop { $0 == UInt8(ascii: "/") }
    }
    return Array(kept.joined(separator: [UInt8(ascii: ";")]))
  }
}
