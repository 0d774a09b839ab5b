import FileObservation
import PathFiltering

extension ObserverWarning {
  /// The warning as the console shows it, with advice that names this program's options.
  var text: String {
    switch code {
    case .eventsUnavailable: "\(message); set the interval with --poll=INTERVAL"
    case .everythingIgnored:
      "everything in \(path ?? ".") is ignored\(rule.map { " (for example by \(RulePlace($0)))" } ?? ""); "
        + "pass a path with -w to watch it anyway"
    default: description
    }
  }
}
