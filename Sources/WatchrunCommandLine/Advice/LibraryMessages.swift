import FileObservation
import LiveReload

// Messages of the libraries, with advice that names options of this program.

extension ObserverWarning {
  var text: String {
    switch code {
    case .eventsUnavailable: "\(message); set the interval with --poll=INTERVAL"
    case .everythingIgnored:
      "everything in \(path ?? ".") is ignored\(rule.map { " (for example by \($0.shown()))" } ?? ""); "
        + "pass a path with -w to watch it anyway"
    default: description
    }
  }
}

extension PageError {
  var text: String {
    switch code {
    case .portInUse: "\(message); choose another port with --port, or omit it"
    case .portReserved: "\(message); choose a port from 1024"
    case .addressUnavailable: "\(message); use one of its addresses, or 0.0.0.0 for all"
    case .descriptorLimitReached: "\(message); raise it with ulimit -n"
    default: message
    }
  }
}

extension PageServer.Warning {
  /// - Parameter directory: The directory to which patterns are relative.
  func text(in directory: Path) -> String {
    guard code == .reloadLoop, let path, let advice = IgnoreAdvice(path, in: directory) else {
      return message
    }
    return "\(message); to ignore the file, pass \(advice.option)"
  }
}
