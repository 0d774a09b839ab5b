import FileObservation

/// What has changed, as JSON: an object in one line.
///
/// Written by hand: the order of the fields is fixed, names of files need not be UTF-8, and a line a
/// batch at 20,000 paths must cost next to nothing.
package enum JSONText {
  /// As `--print json` prints it.
  package static func batch(_ batch: ChangeBatch) -> String {
    object(batch.number, Trigger(batch))
  }

  /// The same for what a run is told; `number` is the run's.
  package static func object(_ number: Int, _ trigger: Trigger) -> String {
    let changes = trigger.changes.map(change).joined(separator: ",")
    return #"{"batch":\#(number),"reason":"\#(trigger.reason.rawValue)","changes":[\#(changes)],"#
      + #""overflow":\#(trigger.reason == .overflow)}"#
  }

  private static func change(_ change: ChangeBatch.Change) -> String {
    let from = change.from.map { "," + path($0, named: "from") } ?? ""
    return "{" + path(change.path, named: "path") + #","kind":"\#(change.kind.rawValue)""# + from
      + #","type":"\#(change.type.rawValue)"}"#
  }

  /// The path's field; for one that is not UTF-8 also its bytes, in Base64.
  private static func path(_ path: Path, named name: String) -> String {
    if let text = path.string { return #""\#(name)":\#(string(text))"# }
    let repaired = String(decoding: path.bytes, as: UTF8.self)
    return #""\#(name)":\#(string(repaired)),"\#(name)Base64":"\#(base64(path.bytes))""#
  }

  /// A string between quotes, with what JSON wants escaped.
  package static func string(_ text: String) -> String {
    var bytes = [UInt8(ascii: "\"")]
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      case UInt8(ascii: "\n"): bytes += Array(#"\n"#.utf8)
      case UInt8(ascii: "\t"): bytes += Array(#"\t"#.utf8)
      case UInt8(ascii: "\r"): bytes += Array(#"\r"#.utf8)
      case ..<0x20, 0x7F:
        let hex = String(byte, radix: 16)
        bytes += Array((#"\u"# + String(repeating: "0", count: 4 - hex.count) + hex).utf8)
      default: bytes.append(byte)
      }
    }
    return String(decoding: bytes + [UInt8(ascii: "\"")], as: UTF8.self)
  }

  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  private static func base64(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
      for place in 0..<4 {
        let isPadding = place > group.count
        text.append(isPadding ? UInt8(ascii: "=") : alphabet[bits >> (18 - 6 * place) & 0x3F])
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
