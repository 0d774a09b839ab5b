/// A header field that a page adds to its answers.
public struct HeaderField: Hashable, Sendable {
  /// A reason for which there is no such field.
  public enum Problem: Error, Hashable, Sendable {
    /// The name has other characters than letters, digits and some signs, or none.
    case invalidName
    /// The value has control characters.
    case invalidValue
    /// The field describes the body of a single answer, or the connection.
    case reserved
  }

  /// The name, such as `Cross-Origin-Opener-Policy`. Its case makes no difference.
  public let name: String
  /// The value, without spaces around it.
  public let value: String

  /// Creates a field.
  public init(name: String, value: String) throws(Problem) {
    if name.isEmpty || !name.utf8.allSatisfy(\.isToken) { throw .invalidName }
    if !value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) { throw .invalidValue }
    if Self.reserved.contains(where: { name.utf8.equalsIgnoringCase($0) }) { throw .reserved }
    self.name = name
    self.value = String(decoding: Array(value.utf8).trimmedBlanks, as: UTF8.self)
  }

  /// The names, in lower case, of the fields that no page can set.
  package static let reserved =
    ProxyHeads.ofContent + ["trailer"] + ProxyHeads.hopByHop

  /// Whether the field has this name.
  package func isNamed(_ name: String) -> Bool { self.name.utf8.equalsIgnoringCase(name) }
}
