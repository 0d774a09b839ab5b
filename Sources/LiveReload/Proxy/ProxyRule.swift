/// A rule of a page: the requests for a path, and for everything below it, are passed to a server.
public struct ProxyRule: Hashable, Sendable {
  /// The path without a trailing slash, such as `/api`; `/` for all requests.
  public let path: String
  /// The server. It receives the path unchanged.
  public let server: ServerAddress
  /// The decoded names in the path.
  private let names: [[UInt8]]

  /// Creates a rule.
  ///
  /// - Parameters:
  ///   - path: A path that begins with a slash; `nil` is returned for another text. A trailing
  ///     slash makes no difference. There are no wildcards, and no query.
  ///   - server: The server that answers.
  public init?(path: String, server: ServerAddress) {
    let isVisible = path.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && !"?#*".utf8.contains($0) }
    guard isVisible, var parts = Self.parts(of: path.utf8) else { return nil }
    if parts.last?.isEmpty == true { parts.removeLast() }
    let names = parts.compactMap(\.percentDecoded)
    if names.count < parts.count || names.contains([]) { return nil }
    self.path = names.isEmpty || !path.hasSuffix("/") ? path : String(path.dropLast())
    self.server = server
    self.names = names
  }

  /// What is between the slashes of a path; `nil` if it does not begin with one.
  private static func parts<Bytes: Collection<UInt8>>(of path: Bytes) -> [Bytes.SubSequence]? {
    let parts = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    return parts.count > 1 && parts[0].isEmpty ? Array(parts.dropFirst()) : nil
  }

  /// Whether all requests match.
  package var matchesAll: Bool { names.isEmpty }

  /// Whether a request for this path, which is not decoded, matches.
  func matches(_ path: some Collection<UInt8>) -> Bool {
    if matchesAll { return true }
    guard let parts = Self.parts(of: path), parts.count >= names.count else { return false }
    return zip(names, parts).allSatisfy { $0 == $1.percentDecoded ?? Array($1) }
  }

  /// Whether this rule applies where another one matches too.
  func precedes(_ other: ProxyRule) -> Bool { names.count > other.names.count }
}
