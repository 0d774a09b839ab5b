import FileObservation
import Support

// Options that contradict each other.

extension Settings {
  /// Refuses options of which one would silently win.
  func checkContradictions() throws(UsageError) {
    try checkBusyMode()
    let pairs = [
      ("once", "keep-alive", "ends after the first run"),
      ("once", "until-success", "ends after the first run, whether or not it succeeds"),
      ("once", "exit-on-error", "ends after the first run, whether or not it succeeds"),
    ]
    for (first, second, effect) in pairs {
      guard let one = given[first], let other = given[second] else { continue }
      throw UsageError("\(one) \(effect), so \(other) has no effect; remove one of them")
    }
    let reading =
      given["diagnostics"] ?? given["pty"]
      ?? (statusLine == .always ? given["status-line"] : nil)
      ?? (outputMode == .all ? nil : given["output"])
    if let option = reading, let interactive = given["interactive"] {
      throw UsageError(
        "\(interactive) gives the terminal to the command, so \(option) cannot read its output; "
          + "remove one of them")
    }
    if let wait = given["max-wait"], let debounce = given["debounce"],
      case .fixed(let period) = quietPeriod, maximumWait < period
    {
      throw UsageError("\(wait) must not be shorter than the quiet period of \(debounce)")
    }
  }

  /// `--on-busy`, `--restart` and `--signal` set the same thing.
  private func checkBusyMode() throws(UsageError) {
    guard let mode = busyModes.first else { return }
    for other in busyModes.dropFirst() where other.mode != mode.mode {
      if mode.mode == .restart && other.mode == .signal {
        throw UsageError(
          "\(mode.written) and \(other.written) exclude each other; "
            + "to stop with another signal: \(mode.written) --stop-signal SIGNAL")
      }
      throw UsageError(
        "\(mode.written) and \(other.written) exclude each other: "
          + "a change during a run does one thing; remove one of them")
    }
  }

  private var busyModes: [(written: String, mode: BusyMode)] {
    var modes: [(String, BusyMode)] = []
    if let written = given["restart"] { modes.append((written, .restart)) }
    if let written = given["signal"] { modes.append((written, .signal)) }
    if let written = given["on-busy"], let mode = onBusy {
      modes.append(("\(written) \(mode.rawValue)", mode))
    }
    return modes
  }
}
