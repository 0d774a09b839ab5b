import ActionRunning
import Diagnostics
import SystemCalls

/// The diagnostics of each task: those of its latest run that has ended by itself, compared with those of the run
/// before. A pure value.
struct DiagnosticLog {
  private var latest: [String: [Diagnostic]] = [:]
  /// What changed beside runs that may have done it, since the session was at rest.
  private var ownChanges: Set<Path> = []
  /// What still holds while a task runs because of nothing but new files of the run before: that run has
  /// compiled what it says something about, and this one does not compile it again.
  private var stillTrue: [String: [Diagnostic]] = [:]

  /// The diagnostics of a task; none before a run of it has ended.
  subscript(task: String) -> [Diagnostic] { latest[task] ?? [] }

  /// Forgets all tasks but these.
  mutating func keep(_ tasks: [String]) {
    latest = latest.filter { tasks.contains($0.key) }
  }

  mutating func handle(_ report: TaskReport) {
    switch report {
    case .changes(.explained(let changes)):
      for change in changes {
        if change.decision == .run && change.writer != .others {
          ownChanges.insert(change.path)
        } else {
          ownChanges.remove(change.path)
        }
      }
    case .runner(.idle):
      ownChanges = []
    case .run(let run, .started) where run.job == .command:
      let changes = run.trigger.changes
      let isFollowUp = changes.allSatisfy { $0.kind == .created && ownChanges.contains($0.path) }
      stillTrue[run.task] =
        isFollowUp && !changes.isEmpty ? self[run.task].filter { $0.path != nil } : nil
    default:
      break
    }
  }

  /// A run has ended by itself. If it has succeeded, nothing in its output is an error, whatever it looks like.
  ///
  /// - Returns: What is worth saying at its end; `nil` if nothing is.
  mutating func ended(
    _ task: String, hasSucceeded: Bool, _ found: [Diagnostic]
  ) -> DiagnosticSummary? {
    let all = found + (stillTrue[task] ?? []).filter { !found.contains($0) }
    let now = hasSucceeded ? all.filter { $0.severity != .error } : all
    let before = latest.updateValue(now, forKey: task)
    return DiagnosticSummary(now, before: before ?? [])
  }
}

/// What the closing line of a run says about its diagnostics.
struct DiagnosticSummary: Hashable, Sendable {
  /// What an error says and where, apart from its line: lines above it come and go.
  private struct Identity: Hashable {
    let path: Path?
    let message: String

    init(_ diagnostic: Diagnostic) {
      (path, message) = (diagnostic.path, diagnostic.message)
    }
  }

  private static let longestMessage = 120

  var errors = 0
  var warnings = 0
  /// How many of the errors are new, if the run before had errors as well.
  var new = 0
  var fixed = 0
  /// Whether there may be more.
  var isCut: Bool
  /// The first error, of the new ones if there are any.
  var first: Diagnostic?

  /// `nil` if there is nothing to say.
  init?(_ now: [Diagnostic], before: [Diagnostic]) {
    isCut = now.count >= DiagnosticReader.mostDiagnostics
    var old: [Identity: Int] = [:]
    for error in before where error.severity == .error { old[Identity(error), default: 0] += 1 }
    let hadErrors = !old.isEmpty
    for diagnostic in now {
      switch diagnostic.severity {
      case .note: break
      case .warning: warnings += 1
      case .error:
        errors += 1
        if let count = old[Identity(diagnostic)], count > 0 {
          old[Identity(diagnostic)] = count - 1
          first = first ?? diagnostic
        } else if hadErrors {
          if new == 0 { first = diagnostic }
          new += 1
        } else {
          first = first ?? diagnostic
        }
      }
    }
    if !isCut { fixed = old.values.reduce(0, +) }
    if errors + warnings + fixed == 0 { return nil }
  }

  /// `2 errors (1 new), 1 warning`.
  var counts: String {
    var parts: [String] = []
    if new == errors && new > 0 {
      parts.append(Self.count(new, "new error", isCut))
    } else if errors > 0 {
      parts.append(Self.count(errors, "error", isCut) + (new > 0 ? " (\(new) new)" : ""))
    }
    if fixed > 0 { parts.append(Self.count(fixed, "error") + " fixed") }
    if warnings > 0 { parts.append(Self.count(warnings, "warning", isCut)) }
    return parts.joined(separator: ", ")
  }

  /// `2 errors, 1 warning · Sources/Parser.swift:12:9 cannot find 'tokn' in scope`.
  func text(in directory: Path) -> String {
    guard let first else { return counts }
    return "\(counts) · \(first.text(in: directory, length: Self.longestMessage))"
  }

  /// - Parameter isCut: Whether there may be more.
  static func count(_ number: Int, _ noun: String, _ isCut: Bool = false) -> String {
    let isCut = isCut || number >= DiagnosticReader.mostDiagnostics
    return counted(number, noun) + (isCut ? " or more" : "")
  }
}
