import Diagnostics
import SystemCalls

// The console of the page in browsers.

extension PageSite {
  /// The most lines that the status shows.
  private static let mostConsoleLines = 100

  /// Starts receiving messages of the console.
  func receiveConsole(
    _ request: HTTPRequestHead, on connection: ServerConnection
  ) -> (any Exchange)? {
    guard page.reportsConsole else {
      return connection.reply(.text(404, "The console of this page is not reported"))
    }
    guard core.mayReport(request.query) else {
      return connection.reply(.text(403, "The page is out of date"))
    }
    return ConsoleRequest(on: connection) { [weak self] in self?.note($0) }
  }

  private func note(_ report: ConsoleReport) {
    let isAwaited = consoleLimit.omitted > 0
    for message in report.messages
    where consoleLimit.admits(lines: message.lines.count, at: core.milliseconds) {
      self.report(message)
    }
    consoleLimit.omit(report.omitted, at: core.milliseconds)
    if isAwaited || consoleLimit.omitted == 0 { return }
    let rest = max(0, consoleLimit.end - core.milliseconds)
    core.loop.call(after: .milliseconds(rest)) { [weak self] in
      guard let self else { return }
      let count = consoleLimit.omitted
      consoleLimit.begin(at: core.milliseconds)
      let noun = count == 1 ? "message" : "messages"
      self.report(
        ConsoleMessage(level: .warning, lines: ["\(count) more \(noun), too many to show"]))
    }
  }

  private func report(_ message: ConsoleMessage) {
    var message = message
    message.lines = message.lines.map { located($0) }
    core.report(.consoleMessage(page: page.name, message))
    consoleLines += message.lines.enumerated().map { number, line in
      number == 0 ? "\(message.level.rawValue): \(line)" : line
    }
    consoleLines.removeFirst(max(0, consoleLines.count - Self.mostConsoleLines))
    core.broadcastStatus()
  }

  /// Replaces the URLs of served files before line numbers by paths, which editors and terminals can follow.
  private func located(_ line: String) -> String {
    guard case .directory(let root) = page.source else { return line }
    var text = Array(line.utf8)
    let found = SourceLocation.find(in: text) { name in
      guard let path = RequestPath(target: name.utf8) else { return nil }
      var file = path.file(in: root)
      if path.endsWithSlash { file = file.appending("index.html") }
      let status = try? FileStatus(of: file, followsLinks: true)
      return status?.type == .file ? file : nil
    }
    for place in found.reversed() {
      let column = place.column.map { ":\($0)" } ?? ""
      let shown = "\(core.shown(place.path)):\(place.line)\(column)"
      text.replaceSubrange(place.range, with: shown.utf8)
    }
    return String(decoding: text, as: UTF8.self)
  }
}
