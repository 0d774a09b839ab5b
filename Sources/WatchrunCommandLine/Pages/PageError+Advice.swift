import LiveReload

extension PageError {
  /// The error as the console shows it, with advice that names this program's options.
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
  /// The warning as the console shows it, with advice that names this program's options.
  ///
  /// - Parameter directory: The directory to which patterns are relative.
  func text(in directory: Path) -> String {
    guard code == .reloadLoop, let path, let advice = IgnoreAdvice(path, in: directory) else {
      return message
    }
    return "\(message); to ignore the file, pass \(advice.option)"
  }
}
