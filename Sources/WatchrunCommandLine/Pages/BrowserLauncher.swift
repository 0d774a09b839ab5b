import SystemCalls

/// Opens pages in the user's browser: `$BROWSER`, otherwise the default browser of the system. Failures are
/// reported and change nothing else.
struct BrowserLauncher: Sendable {
  private let console: Console
  private let commands: [String]

  init(_ console: Console, variable: String? = environmentVariable("BROWSER")) {
    self.console = console
    commands = Self.commands(variable)
  }

  /// The commands to try in turn. `$BROWSER` is a list separated by colons.
  static func commands(_ variable: String?) -> [String] {
    let named = (variable ?? "").split(separator: ":").map(String.init)
    return named.isEmpty ? [systemOpener] : named
  }

  /// The words of a command. `%s` is replaced by the URL, which is appended otherwise.
  static func arguments(_ command: String, _ url: String) -> [[UInt8]] {
    let words = command.split(separator: " ").map(String.init)
    let hasPlace = words.contains { $0 == "%s" }
    let filled = words.map { $0 == "%s" ? url : $0 } + (hasPlace ? [] : [url])
    return filled.map { Array($0.utf8) }
  }

  func open(_ url: String) {
    var reason = "no browser found"
    for command in commands {
      do throws(SystemError) {
        try DetachedProgram(arguments: Self.arguments(command, url)).start { reason in
          report("\(command.printable): \(reason)", url)
        }
        return
      } catch {
        reason = "\(command.printable): \(error.reason)"
      }
    }
    report(reason, url)
  }

  private func report(_ reason: String, _ url: String) {
    console.warn(
      "cannot open a browser: \(reason); open \(url.printable) yourself, or set BROWSER")
  }
}
