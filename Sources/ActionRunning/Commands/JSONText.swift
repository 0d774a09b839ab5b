import FileObservation
import Support

/// Changes as a JSON object on one line, as `Documentation/changes.schema.json` describes it.
package enum JSONText {
  /// The version of all JSON that watchrun prints, which increases when a member is removed or means another thing.
  package static let version = 1

  /// The format of `--print json`.
  package static func batch(_ batch: ChangeBatch) -> String {
    object(batch.number, RunTrigger(.change, batch))
  }

  /// The same format for a run, with its number.
  package static func object(_ number: Int, _ trigger: RunTrigger) -> String {
    let text = JSONWriter.encode { writer in
      writer.object { writer in
        writer.member("batch", number)
        writer.member("reason", trigger.reasonName)
        writer.array("changes") { writer in
          for change in trigger.changes { write(change, to: &writer) }
        }
        writer.member("overflow", trigger.batch.overflow)
        writer.member("version", version)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func write(_ change: ChangeBatch.Change, to writer: inout JSONWriter) {
    writer.object { writer in
      write(change.path, named: "path", or: "pathBase64", to: &writer)
      writer.member("kind", change.kind.rawValue)
      if let from = change.from { write(from, named: "from", or: "fromBase64", to: &writer) }
      writer.member("type", change.type.rawValue)
    }
  }

  /// Writes a path; if it is not UTF-8, also its bytes in Base64.
  private static func write(
    _ path: Path, named name: StaticString, or base64Name: StaticString, to writer: inout JSONWriter
  ) {
    if writer.member(name, ascii: path.bytes) { return }
    if let string = path.string { return writer.member(name, string) }
    writer.member(name, String(decoding: path.bytes, as: UTF8.self))
    writer.member(base64Name, Base64.encode(path.bytes))
  }
}
