import Support
import SystemCalls

/// The text of a project file, and of the file beside it that is merged over it.
///
/// A position counts through both: that of the second text follows the first one.
package struct ProjectFileText {
  let file: String
  let text: [UInt8]
  /// `nil` if there is none.
  var local: (file: String, text: [UInt8])?

  /// The path of the second file: `watchrun.local.json` beside `watchrun.json`.
  static func local(of file: Path) -> Path {
    let name = file.lastComponent
    let dot = name.lastIndex(of: UInt8(ascii: ".")) ?? name.endIndex
    let local = Path(bytes: Array(name[..<dot]) + ".local".word + Array(name[dot...]))
    return file.parent?.appending(local.bytes) ?? local
  }

  /// The file and the position at which a byte is.
  package func place(of offset: Int) -> (file: String, position: TextPosition) {
    guard let local, offset > text.count else {
      return (file, TextPosition(offset, in: text))
    }
    return (local.file, TextPosition(offset - text.count - 1, in: local.text))
  }

  /// The value of both texts.
  package func value() throws(JSONSyntaxError) -> JSONValue {
    let (value, local) = try values()
    return local.map(value.merged) ?? value
  }

  /// The values of the texts, each with positions that count through both.
  func values() throws(JSONSyntaxError) -> (file: JSONValue, local: JSONValue?) {
    let example = "{ tasks: { … } }"
    let value = try JSONValue(parsing: text, example: example)
    guard let local else { return (value, nil) }
    do throws(JSONSyntaxError) {
      let changes = try JSONValue(parsing: local.text, example: example)
      return (value, changes.moved(by: text.count + 1))
    } catch {
      var error = error
      error.offset += text.count + 1
      throw error
    }
  }
}
