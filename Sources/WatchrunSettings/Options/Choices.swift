import ActionRunning
import FileObservation
import SystemCalls

// The values of options and keys that are chosen from a list of names.

/// What a change during a run does: `--on-busy` and `onBusy`.
package enum BusyMode: String, CaseIterable, Sendable {
  case queue
  case ignore
  case restart
  case overlap
  case signal

  package func policy(_ sent: Signal) -> BusyPolicy {
    switch self {
    case .queue: .queue
    case .ignore: .ignore
    case .restart: .restart
    case .overlap: .overlap
    case .signal: .signal(sent)
    }
  }
}

/// Whether a task may be fresh at the start: `--fresh`.
package enum FreshMode: String, CaseIterable, Sendable {
  case yes
  case no
}

/// When messages are colored: `--color` and `color`.
package enum ColorMode: String, CaseIterable, Sendable {
  case auto
  case always
  case never
}

/// When the status line is shown: `--status-line`.
package enum StatusLineMode: String, CaseIterable, Sendable {
  /// In a project, at a terminal with enough rows.
  case auto
  case always
  case never
}

/// The output that is printed: `--output` and `output`.
package enum OutputMode: String, CaseIterable, Sendable {
  case all
  /// That of runs that fail, when they have ended.
  case failed
}

/// The runs after which the user is notified: `--notify` and `notify`.
package enum NotifyMode: String, CaseIterable, Sendable {
  /// Those that fail, and the first one that succeeds after that.
  case failure
  /// Those whose outcome differs from that of the run before.
  case change
  case always
  case never
}

extension ChangeBatch.Kind {
  private static let all: KeyValuePairs<String, ChangeBatch.Kind> = [
    "create": .created, "modify": .modified, "remove": .removed, "rename": .renamed,
    "metadata": .metadata,
  ]

  /// Those that count by default.
  package static let usual = Set(allCases).subtracting([.metadata])

  /// The names of the kinds in `--events` and `events`.
  static var names: [String] { all.map(\.key) }

  init?(named name: String) {
    guard let kind = Self.all.first(where: { $0.key == name })?.value else { return nil }
    self = kind
  }
}
