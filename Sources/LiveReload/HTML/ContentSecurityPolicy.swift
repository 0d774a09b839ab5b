import Support

/// The effect of the Content-Security-Policy headers of a response on the client script, and the
/// smallest relaxation that lets it run and connect.
enum ContentSecurityPolicy {
  /// The decision on the client script.
  enum Admission: Hashable, Sendable {
    /// The script cannot be added: a policy forbids all scripts, or two policies have no nonce in
    /// common. The headers stay unchanged.
    case forbidden
    /// The script can be added, with these values for the headers, in their order, and this nonce in its tag.
    case allowed(values: [[UInt8]], nonce: String?)
  }

  /// Why a script is not added.
  static let refusal = "its Content-Security-Policy forbids scripts"

  /// Decides on the policies in `values`, one for each header.
  ///
  /// `nonce` must be fresh. It is used only if necessary.
  static func admitClient(values: [[UInt8]], nonce: String) -> Admission {
    var headers = values.map { value in
      value.split(separator: UInt8(ascii: ",")).map { Policy($0) }
    }
    var common: Set<String>?
    for policy in headers.joined() {
      if policy.forbidsScripts { return .forbidden }
      let nonces = policy.scriptNonces
      if !nonces.isEmpty { common = common?.intersection(nonces) ?? nonces }
    }
    if let common, common.isEmpty { return .forbidden }
    let needsNonce = headers.joined().contains { $0.needsNonce }
    // The smallest, so that the result does not depend on the order of a set.
    let shared = common?.min() ?? (needsNonce ? nonce : nil)
    for header in headers.indices {
      for policy in headers[header].indices {
        headers[header][policy].admitScript(nonce: shared)
        headers[header][policy].admitConnection()
      }
    }
    let rewritten = zip(values, headers).map { value, policies in
      policies.contains { $0.isChanged }
        ? Array(policies.map(\.text).joined(separator: ", ".utf8)) : value
    }
    return .allowed(values: rewritten, nonce: shared)
  }
}

/// A policy: a list of directives.
private struct Policy {
  /// The directives in order, each its name and its sources. Of several with the same name, the first one applies.
  private var directives: [[[UInt8]]]
  private(set) var isChanged = false

  init(_ text: ArraySlice<UInt8>) {
    directives = text.split(separator: UInt8(ascii: ";")).map { part in
      part.split(whereSeparator: \.isMarkupSpace).map(Array.init)
    }.filter { !$0.isEmpty }
  }

  /// The policy as the value of a header.
  var text: [UInt8] {
    Array(directives.map { $0.joined(separator: [0x20]) }.joined(separator: "; ".utf8))
  }

  private func index(_ names: String...) -> Int? {
    names.firstResult { name in directives.firstIndex { $0[0].equalsIgnoringCase(name) } }
  }

  /// The directive that applies to script elements.
  private var scripts: Int? { index("script-src-elem", "script-src", "default-src") }

  private var scriptSources: ArraySlice<[UInt8]> {
    scripts.map { directives[$0].dropFirst() } ?? []
  }

  /// Whether the policy forbids all scripts.
  var forbidsScripts: Bool {
    if let sandbox = index("sandbox"), !directives[sandbox].dropFirst().has("allow-scripts") {
      return true
    }
    return scripts != nil && scriptSources.allowNothing
  }

  /// The nonces that allow a script.
  var scriptNonces: Set<String> { Set(scriptSources.compactMap(nonce(in:))) }

  /// Whether only a nonce allows a script, and the policy has none.
  var needsNonce: Bool { scriptSources.has("'strict-dynamic'") && scriptNonces.isEmpty }

  /// Allows a script of the same origin with `nonce`.
  mutating func admitScript(nonce: String?) {
    guard let scripts, scriptNonces.isEmpty else { return }
    if needsNonce {
      if let nonce { add("'nonce-\(nonce)'", to: scripts, or: "script-src-elem") }
    } else if !scriptSources.allowSameOrigin {
      add("'self'", to: scripts, or: "script-src-elem")
    }
  }

  /// Allows connections to the page's own server.
  mutating func admitConnection() {
    guard let connections = index("connect-src", "default-src"),
      !directives[connections].dropFirst().allowSameOrigin
    else { return }
    add("'self'", to: connections, or: "connect-src")
  }

  /// Adds a source to a directive. Instead of `default-src`, a new directive `specific` with the
  /// same sources is extended, so that nothing else is relaxed.
  private mutating func add(_ source: String, to index: Int, or specific: String) {
    isChanged = true
    let name = directives[index][0].lowercasedASCII
    let isDefault = name.elementsEqual("default-src".utf8)
    // 'none' beside another source is ignored with a warning.
    let sources = directives[index].dropFirst().filter { !$0.equalsIgnoringCase("'none'") }
    let directive = [isDefault ? specific.word : name] + sources + [source.word]
    if isDefault { directives.append(directive) } else { directives[index] = directive }
  }
}

extension ArraySlice<[UInt8]> {
  fileprivate func has(_ keyword: String) -> Bool { contains { $0.equalsIgnoringCase(keyword) } }

  /// Whether the page's own origin is allowed. Host names are not compared, because the one in the
  /// browser's address is not known here.
  fileprivate var allowSameOrigin: Bool {
    !has("'strict-dynamic'") && (has("'self'") || has("*") || has("http:"))
  }

  /// Whether the list is empty, or `'none'`.
  fileprivate var allowNothing: Bool { allSatisfy { $0.equalsIgnoringCase("'none'") } }
}

/// The nonce of a source such as `'nonce-abc='`; `nil` for a malformed one, which browsers ignore,
/// and which must never be inserted into markup.
private func nonce(in source: [UInt8]) -> String? {
  let prefix = "'nonce-"
  guard source.count > prefix.utf8.count + 1, source.last == UInt8(ascii: "'"),
    source.prefix(prefix.utf8.count).equalsIgnoringCase(prefix)
  else { return nil }
  let value = source.dropFirst(prefix.utf8.count).dropLast()
  let digits = value.prefix { $0 != UInt8(ascii: "=") }
  guard !digits.isEmpty, value.dropFirst(digits.count).allSatisfy({ $0 == UInt8(ascii: "=") }),
    digits.allSatisfy({ $0.isLetterASCII || $0.isDigitASCII || "+/-_".utf8.contains($0) })
  else { return nil }
  return String(decoding: value, as: UTF8.self)
}
