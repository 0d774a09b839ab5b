/// A key of the project file.
struct ProjectKey: Hashable, Sendable {
  /// The objects in which keys occur.
  enum Scope: String, CaseIterable, Sendable {
    case project
    case task
    case page
    case readiness = "ready"
  }

  let name: String
  let scopes: [Scope]
  private(set) var kind = ValueKind.string
  let help: String
  /// The names of such keys in other tools, in lower case and without hyphens.
  let others: [String]

  static func key(
    _ name: String, _ help: String, in scopes: Scope..., others: [String] = []
  ) -> ProjectKey {
    ProjectKey(name: name, scopes: scopes, help: help, others: others)
  }

  func with(_ kind: ValueKind) -> ProjectKey {
    var key = self
    key.kind = kind
    return key
  }

  /// All keys, in the order in which they are explained.
  static let all = Setting.all.compactMap(\.key)

  static func all(in scope: Scope) -> [ProjectKey] { all.filter { $0.scopes.contains(scope) } }

  static func names(in scope: Scope) -> [String] { all(in: scope).map(\.name) }
}
