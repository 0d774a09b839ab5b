import Diagnostics
import SystemCalls

/// Lines that GitHub Actions reads from the log of a step: groups, and diagnostics that it shows beside the code.
struct WorkflowCommands: Sendable {
  static let endGroup = "::endgroup::"

  /// The root of the repository.
  private let workspace: Path?

  /// - Returns: `nil` elsewhere.
  init?(_ variable: (String) -> String?) {
    guard variable("GITHUB_ACTIONS") == "true" else { return nil }
    workspace = variable("GITHUB_WORKSPACE").map { Path($0) }
  }

  func group(_ title: String) -> String { "::group::\(Self.escaped(title))" }

  /// `nil` for a note, which belongs to another diagnostic.
  func annotation(_ diagnostic: Diagnostic) -> String? {
    if diagnostic.severity == .note { return nil }
    let path = diagnostic.path.map { path in
      workspace.map { path.shown(in: $0) } ?? path
    }
    let properties = [
      path.map { "file=\(Self.escaped($0.description, alsoForProperty: true))" },
      diagnostic.line.map { "line=\($0)" }, diagnostic.column.map { "col=\($0)" },
    ].compactMap(\.self).joined(separator: ",")
    return "::\(diagnostic.severity.rawValue)\(properties.isEmpty ? "" : " " + properties)::"
      + Self.escaped(diagnostic.message)
  }

  private static func escaped(_ text: String, alsoForProperty isProperty: Bool = false) -> String {
    text.unicodeScalars.map { scalar in
      switch scalar {
      case "%": "%25"
      case "\r": "%0D"
      case "\n": "%0A"
      case ":" where isProperty: "%3A"
      case "," where isProperty: "%2C"
      default: String(scalar)
      }
    }.joined()
  }
}
