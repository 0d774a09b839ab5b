import FileObservation
import LiveReload

// Parses rules of `--proxy`: `3000` for all requests, or `/api=3000`.

extension ProxyRule {
  /// Parses the address of a server, after the path to proxy if there is one.
  init(parsing text: String) throws(UsageError) {
    guard text.hasPrefix("/") else {
      try self.init(path: "/", to: ServerAddress(parsing: text))
      return
    }
    let path = text.prefix { $0 != "=" }
    if path.endIndex == text.endIndex {
      throw UsageError("'\(Path(text))' names no server; write \(Path(text))=3000")
    }
    let server = text[path.endIndex...].dropFirst()
    try self.init(path: String(path), to: ServerAddress(parsing: String(server)))
  }

  private init(path: String, to server: ServerAddress) throws(UsageError) {
    guard let rule = Self(path: path, server: server) else {
      throw UsageError(
        "'\(Path(path))' is not a path to proxy; write one such as /api, "
          + "which includes all below it")
    }
    self = rule
  }
}
