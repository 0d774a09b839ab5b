/// The element that loads the client script.
struct ScriptTag: Sendable {
  /// Identifies the run of the server.
  var session: String
  /// The revision of the document.
  var revision: Int
  /// The nonce with which the document's policy admits the script.
  var nonce: String?
  /// Whether the script reports the console of the page. It must then run before the other scripts.
  var hasConsole = false

  /// What tells a document with this element from those with others.
  var variant: String { "\(session)-\(revision)" }

  /// The element in HTML.
  var html: [UInt8] { text(namespace: "") }

  /// The element in XHTML, where an attribute needs a value.
  var xhtml: [UInt8] { text(namespace: " xmlns=\"http://www.w3.org/1999/xhtml\"") }

  private func text(namespace: String) -> [UInt8] {
    let attributes =
      (nonce.map { " nonce=\"\($0)\"" } ?? "") + (hasConsole ? "" : " async=\"\"")
    return Array(
      """
      <script\(namespace) src="/__watchrun/client.js?\(session)" data-session="\(session)" \
      data-revision="\(revision)"\(attributes)></script>
      """.utf8)
  }
}

extension ScriptInjector {
  /// Creates a rewriter for a document with this `Content-Type`.
  init(_ tag: ScriptTag, contentType: some Collection<UInt8>, scope: Scope) {
    let isXML = MediaType.isXHTML(contentType)
    self.init(
      tag: isXML ? tag.xhtml : tag.html, isXML: isXML,
      encoding: TextEncoding(contentType: contentType), scope: scope)
  }
}
