import Support

/// Replaces what tools write for programs by what they print for people: the messages of cargo and rustc
/// (`--message-format=json`, `--error-format=json`), the events of `go test -json` and `go build -json`, and SARIF
/// logs. All else stays as it is.
struct MachineFormats {
  /// A SARIF log names its schema at its beginning.
  private static let longestHead = 500

  private let output: [UInt8]
  private var text: [UInt8] = []
  /// What go has printed for each package, of which several are tested at the same time.
  private var packages: [[UInt8]] = []
  private var numbers: [String: Int] = [:]
  /// How many more logs may be wrong. None after one that is cut off: it would be searched for others again and again.
  private var attempts = 20

  static func plain(_ output: [UInt8]) -> [UInt8] {
    guard output.contains(UInt8(ascii: "{")) else { return output }
    var formats = MachineFormats(output: output)
    return formats.read()
  }

  private mutating func read() -> [UInt8] {
    var start = 0
    while start < output.count {
      let end = output[start...].firstIndex(of: UInt8(ascii: "\n")) ?? output.count
      let line = output[start..<end]
      if let brace = Self.objectStart(line), let next = readObject(line[brace...]) {
        start = next
      } else {
        text += line
        text.append(UInt8(ascii: "\n"))
        start = end + 1
      }
    }
    return text + packages.joined()
  }

  /// Where a line has an object and nothing else. At a terminal, cargo erases the bar that shows its progress before.
  private static func objectStart(_ line: OutputLine) -> Int? {
    guard let brace = line.firstIndex(of: UInt8(ascii: "{")) else { return nil }
    let before = line[..<brace]
    if before.isEmpty { return brace }
    return before.last.map { $0 < 0x20 || $0 == UInt8(ascii: "K") } == true
      && TerminalLine(before).text[...].isBlank ? brace : nil
  }

  /// Reads an object that begins with this line. Returns where the search goes on; `nil` for other forms.
  private mutating func readObject(_ line: OutputLine) -> Int? {
    if line.begins(with: #"{"reason":"#) || line.begins(with: #"{"$message_type":"#) {
      guard let value = parse(line) else { return nil }
      addMessage(value["message"]?.members.isEmpty == false ? value["message"] : value)
      return line.endIndex + 1
    }
    if line.begins(with: #"{"Time":"#) || line.begins(with: #"{"Action":"#)
      || line.begins(with: #"{"ImportPath":"#)
    {
      guard let value = parse(line), value["Action"] != nil else { return nil }
      addEvent(value)
      return line.endIndex + 1
    }
    guard attempts > 0, output[line.startIndex...].prefix(Self.longestHead).contains("sarif") else {
      return nil
    }
    var end = line.startIndex
    let log: JSONValue
    do throws(JSONSyntaxError) {
      log = try JSONValue(parsing: output, from: &end)
    } catch {
      attempts = error.offset < output.count ? attempts - 1 : 0
      return nil
    }
    guard let runs = log["runs"] else { return nil }
    for result in runs.elements.flatMap({ $0["results"]?.elements ?? [] }) { addResult(result) }
    return end
  }

  private func parse(_ text: OutputLine) -> JSONValue? { try? JSONValue(parsing: Array(text)) }

  /// A message of rustc, and of cargo, which has that of rustc in it.
  private mutating func addMessage(_ message: JSONValue?) {
    guard let message, let words = message["message"]?.text, let level = message["level"]?.text
    else { return }
    // "error: internal compiler error"
    let severity = level.hasPrefix("error") ? "error" : level
    let span = message["spans"]?.elements.first { $0["is_primary"]?.bool == true }
    add(
      severity, words, span?["file_name"]?.text, span?["line_start"]?.int,
      span?["column_start"]?.int)
  }

  private mutating func addEvent(_ event: JSONValue) {
    guard let output = event["Output"]?.text else { return }
    let name = (event["Package"] ?? event["ImportPath"])?.text ?? ""
    let number = numbers[name] ?? packages.count
    if number == packages.count { packages.append([]) }
    numbers[name] = number
    packages[number] += output.utf8
  }

  private mutating func addResult(_ result: JSONValue) {
    let location = result["locations"]?.elements.first?["physicalLocation"]
    let uri = location?["artifactLocation"]?["uri"]?.text
    let region = location?["region"]
    add(
      result["level"]?.text ?? "warning", result["message"]?["text"]?.text ?? "",
      uri.map(Self.file), region?["startLine"]?.int, region?["startColumn"]?.int)
  }

  /// The file of a URI.
  private static func file(_ uri: String) -> String {
    var bytes = Array(uri.utf8)[...]
    // "file:///a" and "file://host/a"
    if let rest = bytes.dropping("file://") { bytes = rest.drop { $0 != UInt8(ascii: "/") } }
    return String(decoding: bytes.percentDecoded ?? Array(bytes), as: UTF8.self)
  }

  /// Adds a line in the form of a compiler.
  private mutating func add(
    _ severity: String, _ message: String, _ file: String?, _ line: Int?, _ column: Int?
  ) {
    guard ["error", "warning", "note", "help"].contains(severity) else { return }
    let place = [file, line?.description, column?.description].compactMap(\.self)
    let first = message.utf8.prefix { $0 != UInt8(ascii: "\n") }
    if file != nil { text += (place.joined(separator: ":") + ": ").utf8 }
    text += ((severity == "help" ? "note" : severity) + ": ").utf8
    text += Array(first) + [UInt8(ascii: "\n")]
  }
}
