/// What the Content-Security-Policy headers of a response mean for the client script, and the least
/// they must be loosened by for it to run and to connect.
enum ContentSecurityPolicy {
  /// Whether the client script can be let in.
  enum Admission: Hashable, Sendable {
    /// A policy allows no script at all, or two of them agree on no nonce. The headers stay.
    case forbidden
    /// The values that replace those of the headers, in their order, and the nonce that the tag of
    /// the script must carry.
    case allowed(values: [[UInt8]], nonce: String?)
  }

  /// Returns what to do about the policies in `values`, one for each header.
  ///
  /// `nonce` must be fresh; it is used only where nothing less will do.
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
    // The least, so that the answer does not depend on the order of a set.
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

/// One policy: its directives.
private struct Policy {
  private struct Directive {
    var name: [UInt8]
    var text: [UInt8]
    var sources: [[UInt8]]
  }

  /// In their order. Of those with the same name, the first one counts.
  private var directives: [Directive] = []
  private(set) var isChanged = false

  init(_ text: ArraySlice<UInt8>) {
    for part in text.split(separator: UInt8(ascii: ";")) {
      let words = part.split(whereSeparator: \.isPolicySpace).map(Array.init)
      guard let name = words.first else { continue }
      directives.append(
        Directive(
          name: name.lowercasedASCII, text: Array(words.joined(separator: [0x20])),
          sources: Array(words.dropFirst())))
    }
  }

  /// The policy as the value of a header.
  var text: [UInt8] { Array(directives.map(\.text).joined(separator: "; ".utf8)) }

  private func index(_ names: String...) -> Int? {
    for name in names {
      if let index = directives.firstIndex(where: { $0.name.elementsEqual(name.utf8) }) {
        return index
      }
    }
    return nil
  }

  /// The directive that script elements are judged by.
  private var scripts: Int? { index("script-src-elem", "script-src", "default-src") }

  private var scriptSources: [[UInt8]] { scripts.map { directives[$0].sources } ?? [] }

  /// Whether no script can run, whatever its source.
  var forbidsScripts: Bool {
    if let sandbox = index("sandbox"), !directives[sandbox].sources.has("allow-scripts") {
      return true
    }
    return scripts.map { directives[$0].sources.allowNothing } ?? false
  }

  /// The nonces that let a script in.
  var scriptNonces: Set<String> { Set(scriptSources.compactMap(nonce(in:))) }

  /// Whether only a nonce lets a script in, and the policy has none.
  var needsNonce: Bool { scriptSources.has("'strict-dynamic'") && scriptNonces.isEmpty }

  /// Lets a script of the same origin in that carries `nonce`.
  mutating func admitScript(nonce: String?) {
    guard let scripts, scriptNonces.isEmpty else { return }
    if needsNonce {
      if let nonce { add("'nonce-\(nonce)'", to: scripts, or: "script-src-elem") }
    } else if !scriptSources.allowSameOrigin {
      add("'self'", to: scripts, or: "script-src-elem")
    }
  }

  /// Lets the script connect to the server that it is from.
  mutating func admitConnection() {
    guard let connections = index("connect-src", "default-src"),
      !directives[connections].sources.allowSameOrigin
    else { return }
    add("'self'", to: connections, or: "connect-src")
  }

  /// Adds a source to a directive. `default-src` itself stays: a directive named `specific` with
  /// its sources is added, so that nothing else is loosened.
  private mutating func add(_ source: String, to index: Int, or specific: String) {
    isChanged = true
    var directive = directives[index]
    let isDefault = directive.name.elementsEqual("default-src".utf8)
    let name = isDefault ? Array(specific.utf8) : directive.name
    directive.name = name
    // 'none' beside another source means nothing but a warning.
    directive.sources.removeAll { $0.equalsIgnoringCase("'none'") }
    directive.sources.append(Array(source.utf8))
    directive.text = Array(([name] + directive.sources).joined(separator: [0x20]))
    if isDefault { directives.append(directive) } else { directives[index] = directive }
  }
}

extension [[UInt8]] {
  fileprivate func has(_ keyword: String) -> Bool { contains { $0.equalsIgnoringCase(keyword) } }

  /// Whether a resource of the page's own origin is in. Names of hosts are not compared: which one
  /// the page is reached by is not known here.
  fileprivate var allowSameOrigin: Bool {
    !has("'strict-dynamic'") && (has("'self'") || has("*") || has("http:"))
  }

  /// Whether the list is empty, or `'none'`.
  fileprivate var allowNothing: Bool { allSatisfy { $0.equalsIgnoringCase("'none'") } }
}

/// The nonce of a source such as `'nonce-abc='`; `nil` for one that is not well-formed, which
/// browsers ignore, and which must not come near markup.
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

extension UInt8 {
  /// Whether it separates the words of a directive.
  fileprivate var isPolicySpace: Bool {
    self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0C || self == 0x0D
  }
}
