import SystemCalls

/// Answers requests with files of a directory. Never reads a file outside of it.
struct FileResponder {
  /// Files up to this size are sent together with the head of the response.
  private static let smallSize = 32 * 1024
  /// Longer pages are sent without the script, since a page with it is built in memory.
  private static let largestPage = 16 * 1024 * 1024

  private let root: Path
  /// The page, which has the options.
  private let options: Page

  /// - Parameter root: The directory. It need not exist yet.
  init(_ root: Path, of page: Page) {
    self.root = root
    options = page
  }

  func respond(to request: HTTPRequestHead, script: ScriptTag) -> HTTPResponse {
    guard request.method == "GET" || request.method == "HEAD" else {
      var response = HTTPResponse.text(405, "Only GET and HEAD are answered here.")
      response.fields.append("Allow", "GET, HEAD")
      return response
    }
    guard let path = RequestPath(target: request.target) else {
      return HTTPResponse.text(404, "Not found")
    }
    do throws(SystemError) {
      // Opened for each request, because a build may remove and recreate the directory.
      let root = try resolvedPath(self.root)
      let opened = OpenRoot(directory: try Descriptor.openDirectory(root), path: root)
      if let response = try respond(to: request, path, in: opened, script) { return response }
      return notFound(request, in: opened, script)
    } catch {
      if error.isOutOfResources {
        var response = HTTPResponse.text(503, "Too many files are open: \(error.reason)")
        response.fields.append("Retry-After", "1")
        return response
      }
      if error.code == EACCES {
        return HTTPResponse.text(403, "The file cannot be read: \(error.reason)")
      }
      return missing(request, script)
    }
  }

  /// The served directory, opened for one request.
  private struct OpenRoot: ~Copyable {
    let directory: Descriptor
    let path: Path
  }

  private func open(
    _ name: Path, in root: borrowing OpenRoot
  ) throws(SystemError) -> (file: ByteStream.OpenFile, status: FileStatus)? {
    do throws(SystemError) {
      let file = try Descriptor.open(
        name, beneath: root.directory, at: root.path, followsLinksOut: options.followsLinks)
      let status = try FileStatus(of: file)
      if isHidden(pathOfFile(file.number), in: root) { return nil }
      return (ByteStream.OpenFile(file), status)
    } catch {
      if error.isOutOfResources || error.code == EACCES { throw error }
      return nil
    }
  }

  /// Whether a file, after all symbolic links are resolved, may not be served because of its name or
  /// that of a directory.
  private func isHidden(_ path: Path?, in root: borrowing OpenRoot) -> Bool {
    guard !options.servesDotFiles, let inside = path?.relative(to: root.path) else { return false }
    return inside.components.contains { RequestPath.isDotFile($0) }
  }

  private func respond(
    to request: HTTPRequestHead, _ path: RequestPath, in root: borrowing OpenRoot,
    _ script: ScriptTag
  ) throws(SystemError) -> HTTPResponse? {
    if path.hasDotFile && !options.servesDotFiles { return nil }
    let name = Path(bytes: path.components.joined(separator: [UInt8(ascii: "/")]))
    guard let found = try open(path.components.isEmpty ? "." : name, in: root) else {
      // As in other servers, `/about` is `about.html`.
      guard !path.endsWithSlash, let last = path.components.last,
        !last.contains(UInt8(ascii: ".")),
        let page = try open(Path(bytes: name.bytes + Array(".html".utf8)), in: root),
        page.status.type == .file
      else { return nil }
      return send(page.file, page.status, "page.html", to: request, script)
    }
    switch found.status.type {
    case .file:
      if path.endsWithSlash { return nil }
      return send(found.file, found.status, name, to: request, script)
    case .directory:
      if !path.endsWithSlash { return redirect(request) }
      if let index = try open(name.appending("index.html"), in: root), index.status.type == .file {
        return send(index.file, index.status, "index.html", to: request, script)
      }
      let directory = try resolvedPath(root.path.appending(name.bytes))
      guard options.listsDirectories, !isHidden(directory, in: root) else { return nil }
      return list(directory, request, script)
    case .symlink, .other, .unknown:
      return nil
    }
  }

  /// The address with a trailing slash.
  private func redirect(_ request: HTTPRequestHead) -> HTTPResponse {
    // Browsers keep a permanent redirect for ever otherwise.
    var response = HTTPResponse(301, isKept: false)
    let path = request.path.drop { $0 == UInt8(ascii: "/") }
    let query = request.query.isEmpty ? [] : [UInt8(ascii: "?")] + request.query
    let slash = [UInt8(ascii: "/")]
    response.fields.append("Location", slash + path + slash + query)
    return response
  }

  // MARK: - Files

  private func send(
    _ file: ByteStream.OpenFile, _ status: FileStatus, _ name: Path, to request: HTTPRequestHead,
    _ script: ScriptTag, code: Int = 200
  ) -> HTTPResponse {
    let size = Int(clamping: status.size)
    let isInMemory = size <= Self.largestPage
    let encoding = MediaType.encoding(name.bytes)
    let scope =
      MediaType.isHTML(MediaType.of(name.bytes, isUTF8: false).utf8) && isInMemory
      ? ProxyHeads.scriptScope(request) : nil
    let modified = status.modified.nanoseconds
    let seconds = Int(modified / 1_000_000_000)
    let variant = scope.map { $0 == .anyDocument ? script.variant : script.variant + "-whole" }
    let tag = EntityTag(
      inode: status.inode, size: size, modified: modified, changed: status.changed.nanoseconds,
      variant: variant ?? "")
    var fields = HTTPFields(["Cache-Control": "no-cache", "ETag": tag.text])
    // Pages differ by the added script too.
    if scope == nil { fields.append("Last-Modified", HTTPDate.string(secondsSince1970: seconds)) }
    if code == 200 && isUnchanged(request, tag, scope == nil ? seconds : nil) {
      var response = HTTPResponse(304)
      response.fields = fields
      return response
    }
    let isText = MediaType.isText(name.bytes)
    let isRead = scope != nil || size <= Self.smallSize || isText && isInMemory && encoding == nil
    let content = isRead ? try? file.readAll(sizeHint: size) : nil
    let inner = name.bytes.dropLast(encoding?.end ?? 0)
    // What is compressed is not examined. Those who compress a text for browsers have it in UTF-8.
    let isUTF8 =
      encoding == nil
      ? isText && isInMemory && content?.isUTF8 == true : MediaType.isText(inner)
    let type = MediaType.of(inner, isUTF8: isUTF8)
    fields.append("Content-Type", type)
    if let encoding { fields.append("Content-Encoding", encoding.coding) }
    if let scope {
      guard let content else { return HTTPResponse.text(404, "Not found") }
      var injector = ScriptInjector(script, contentType: type.utf8, scope: scope)
      var response = HTTPResponse(code, injector.process(content) + injector.finish())
      response.fields = fields
      return response
    }
    var whole = HTTPResponse(200, file, offset: 0, count: size)
    // Sent together with the head.
    if let content, content.count == size, size <= Self.smallSize { whole.body = .bytes(content) }
    var response = part(of: whole, file, size, request, tag, seconds)
    if response.status == 200 { response.status = code }
    fields.append("Accept-Ranges", "bytes")
    for (name, value) in response.fields.pairs { fields.append(name, value) }
    response.fields = fields
    return response
  }

  private func isUnchanged(_ request: HTTPRequestHead, _ tag: EntityTag, _ modified: Int?) -> Bool {
    if let value = request.fields.first("if-none-match") {
      return tag.matches(ifNoneMatch: value)
    }
    guard let modified, let value = request.fields.first("if-modified-since"),
      let since = HTTPDate.seconds(in: value)
    else { return false }
    return modified <= since
  }

  /// The requested part of a file.
  private func part(
    of whole: HTTPResponse, _ file: ByteStream.OpenFile, _ size: Int, _ request: HTTPRequestHead,
    _ tag: EntityTag, _ modified: Int
  ) -> HTTPResponse {
    guard request.method == "GET", let value = request.fields.first("range") else { return whole }
    if let condition = request.fields.first("if-range"),
      !tag.matches(ifRange: condition, lastModified: modified)
    {
      return whole
    }
    switch ByteRange(value, size: size) {
    case .whole:
      return whole
    case .part(let range):
      var response = HTTPResponse(206, file, offset: Int64(range.lowerBound), count: range.count)
      response.fields.append(
        "Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)")
      return response
    case .unsatisfiable:
      var response = HTTPResponse(416)
      response.fields.append("Content-Range", "bytes */\(size)")
      return response
    }
  }

  // MARK: - Missing files

  /// Returns the fallback page for a document, or an error.
  private func notFound(
    _ request: HTTPRequestHead, in root: borrowing OpenRoot, _ script: ScriptTag
  ) -> HTTPResponse {
    let others = [(options.fallback, 200), ("404.html", 404)]
    for case (let name?, let code) in others where ProxyHeads.scriptScope(request) != nil {
      guard let page = try? open(Path(name), in: root), page.status.type == .file else { continue }
      return send(page.file, page.status, "other.html", to: request, script, code: code)
    }
    return missing(request, script)
  }

  private func missing(_ request: HTTPRequestHead, _ script: ScriptTag) -> HTTPResponse {
    if ProxyHeads.scriptScope(request) == nil { return HTTPResponse.text(404, "Not found") }
    if (try? FileStatus(of: root, followsLinks: true)) == nil {
      let name = String(decoding: root.lastComponent, as: UTF8.self).escapedForMarkup()
      return page(
        404, "Nothing to serve yet",
        "<p>The directory <code>\(name)</code> does not exist. This page reloads when it does.</p>",
        script)
    }
    let shown = String(decoding: request.path, as: UTF8.self).escapedForMarkup()
    return page(
      404, "Not found",
      "<p>There is no file for <code>\(shown)</code>. This page reloads when there is one.</p>",
      script)
  }

  private func page(_ code: Int, _ title: String, _ body: String, _ script: ScriptTag)
    -> HTTPResponse
  {
    let page = HTMLText.page(title, body, script.html)
    return HTTPResponse(code, page, type: "text/html; charset=utf-8", isKept: false)
  }

  private func list(_ directory: Path, _ request: HTTPRequestHead, _ script: ScriptTag)
    -> HTTPResponse?
  {
    guard let names = try? directoryNames(of: directory) else { return nil }
    let shown = names.filter { options.servesDotFiles || $0.bytes.first != UInt8(ascii: ".") }
    let items = shown.sorted().map { name in
      let status = try? FileStatus(of: directory.appending(name.bytes), followsLinks: true)
      let slash = status?.type == .directory ? "/" : ""
      let text = String(decoding: name.bytes, as: UTF8.self).escapedForMarkup() + slash
      return "<li><a href=\"./\(HTMLText.percentEncode(name.bytes))\(slash)\">\(text)</a></li>"
    }
    let title = String(decoding: request.path, as: UTF8.self).escapedForMarkup()
    return page(
      200, title, "<ul><li><a href=\"../\">../</a></li>\(items.joined())</ul>", script)
  }
}
