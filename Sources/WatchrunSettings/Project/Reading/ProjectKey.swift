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
  private(set) var help: String
  private let defaultValue: String?
  /// The names of such keys in other tools, in lower case and without hyphens.
  let others: [String]

  /// - Parameters:
  ///   - help: A phrase without its default, if not that of the option.
  ///   - defaultValue: The value that applies without the key, if not that of the option.
  static func key(
    _ name: String, _ help: String = "", in scopes: Scope..., default defaultValue: String? = nil,
    others: [String] = []
  ) -> ProjectKey {
    ProjectKey(name: name, scopes: scopes, help: help, defaultValue: defaultValue, others: others)
  }

  /// The key with the kind of its value, and with all of its help.
  func completed(_ kind: ValueKind, by option: Option?) -> ProjectKey {
    var key = self
    key.kind = kind
    if help.isEmpty, let option { key.help = option.phrase }
    let usual = kind == .boolean ? "false" : nil
    if let value = defaultValue ?? option?.defaultValue ?? usual {
      key.help += " (default: \(value))"
    }
    if scopes == [.project, .task] { key.help += "; at the top level, for all tasks" }
    return key
  }

  /// All keys, in the order in which they are explained.
  static let all = Setting.all.compactMap(\.key)

  static func all(in scope: Scope) -> [ProjectKey] { all.filter { $0.scopes.contains(scope) } }

  static func names(in scope: Scope) -> [String] { all(in: scope).map(\.name) }
}
