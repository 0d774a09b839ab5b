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
    var text: [UInt8] = []
    text += #"{"batch":\#(number),"reason":"\#(trigger.reason.rawValue)","changes":["#.utf8
    for (index, change) in trigger.changes.enumerated() {
      if index > 0 { text.append(UInt8(ascii: ",")) }
      append(change, to: &text)
    }
    text += #"],"overflow":\#(trigger.reason == .overflow)}"#.utf8
    return String(decoding: text, as: UTF8.self)
  }

  private static func append(_ change: ChangeBatch.Change, to text: inout [UInt8]) {
    text += #"{"path":"#.utf8
    append(change.path, named: "path", to: &text)
    text += #","kind":""#.utf8
    text += change.kind.rawValue.utf8
    if let from = change.from {
      text += #"","from":"#.utf8
      append(from, named: "from", to: &text)
      text += #","type":""#.utf8
    } else {
      text += #"","type":""#.utf8
    }
    text += change.type.rawValue.utf8
    text += #""}"#.utf8
  }

  /// The path; for one that is not UTF-8 also its bytes, in Base64.
  private static func append(_ path: Path, named name: String, to text: inout [UInt8]) {
    if path.bytes.allSatisfy(isPlain) {
      text.append(UInt8(ascii: "\""))
      text += path.bytes
      text.append(UInt8(ascii: "\""))
      return
    }
    if let string = path.string { return append(string, to: &text) }
    append(String(decoding: path.bytes, as: UTF8.self), to: &text)
    text += #","\#(name)Base64":"\#(base64(path.bytes))""#.utf8
  }

  /// True for what stands for itself in JSON, and is UTF-8 beside anything.
  private static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }

  /// A string between quotes, with what JSON wants escaped.
  package static func string(_ text: String) -> String {
    var bytes: [UInt8] = []
    append(text, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func append(_ string: String, to text: inout [UInt8]) {
    text.append(UInt8(ascii: "\""))
    for byte in string.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): text += [UInt8(ascii: "\\"), byte]
      case UInt8(ascii: "\n"): text += #"\n"#.utf8
      case UInt8(ascii: "\t"): text += #"\t"#.utf8
      case UInt8(ascii: "\r"): text += #"\r"#.utf8
      case ..<0x20, 0x7F:
        let hex = String(byte, radix: 16)
        text += (#"\u"# + String(repeating: "0", count: 4 - hex.count) + hex).utf8
      default: text.append(byte)
      }
    }
    text.append(UInt8(ascii: "\""))
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
