/// Small pages of our own.
enum HTMLText {
  static func escape(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// A name as it stands in a URL.
  static func percentEncode(_ bytes: [UInt8]) -> String {
    bytes.map { byte in
      let isPlain =
        byte.isLetterASCII || byte.isDigitASCII
        || "-._~".utf8.contains(byte)
      let hex = String(byte, radix: 16, uppercase: true)
      return isPlain ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + hex
    }.joined()
  }

  /// A page with a title and a body, both in HTML, and the client script.
  static func page(_ title: String, _ body: String, _ script: [UInt8]) -> [UInt8] {
    let head = """
      <!doctype html><html lang="en"><head><meta charset="utf-8">\
      <meta name="viewport" content="width=device-width"><title>\(title)</title>\
      <style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;\
      max-width:50rem;padding:0 1rem}pre{overflow:auto;white-space:pre-wrap}</style></head><body>\
      <h1>\(title)</h1>\(body)
      """
    return Array(head.utf8) + script + Array("</body></html>\n".utf8)
  }
}
