import Support
import SystemCalls

/// The messages for the client script: server-sent events of JSON.
enum ReloadMessage {
  static func hello(session: String, revision: Int, token: String, overlay: Bool) -> [UInt8] {
    message("hello") {
      $0.member("session", session)
      $0.member("revision", revision)
      $0.member("token", token)
      $0.member("overlay", overlay)
    }
  }

  static func reload(revision: Int) -> [UInt8] {
    message("reload") { $0.member("revision", revision) }
  }

  static func update(revision: Int, isExact: Bool, paths: [String]) -> [UInt8] {
    message("update") { writer in
      writer.member("revision", revision)
      writer.member("exact", isExact)
      writer.member("paths", paths)
    }
  }

  static func failure(task: String, title: String, lines: [[Span]]) -> [UInt8] {
    message("failure") { writer in
      writer.member("task", task)
      writer.member("title", title)
      writer.array("lines") { writer in for line in lines { line.write(to: &writer) } }
    }
  }

  static func cleared(task: String) -> [UInt8] {
    message("cleared") { $0.member("task", task) }
  }

  /// A page that says that its server does not respond may try again.
  static let retry = message("retry") { _ in }

  static let status = message("status") { _ in }

  private static func message(_ type: String, _ build: (inout JSONWriter) -> Void) -> [UInt8] {
    let json = JSONWriter.object { writer in
      writer.member("type", type)
      build(&writer)
    }
    return Array("data: ".utf8) + json + [10, 10]
  }
}
