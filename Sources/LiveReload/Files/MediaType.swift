import SystemCalls

/// Media types by file name extension.
enum MediaType {
  /// The value of `Content-Type` for a file of this name.
  ///
  /// - Parameter isUTF8: Whether the file is text in UTF-8. The encoding of another text is declared
  ///   by the text itself, which a `charset` here would override.
  static func of(_ name: some Collection<UInt8>, isUTF8: Bool) -> String {
    let end = nameEnd(name)
    // Names that may be those of texts say nothing of other files.
    guard isUTF8 || !uncertain.contains(end) else { return end.isEmpty ? unknown : "video/mp2t" }
    guard let type = textTypes[end] ?? types[end] ?? system[end] else { return unknown }
    return isUTF8 && isText(name) ? type + "; charset=utf-8" : type
  }

  /// Whether a file of this name is text, if it is in UTF-8.
  static func isText(_ name: some Collection<UInt8>) -> Bool {
    let end = nameEnd(name)
    return textTypes[end] != nil || types[end] == nil && system[end]?.hasPrefix("text/") == true
  }

  /// The `Content-Encoding` of a compressed file that browsers are meant to decode, with the length of the end of its
  /// name; `nil` for a file to keep as it is, such as an archive.
  static func encoding(_ name: some Collection<UInt8>) -> (coding: String, end: Int)? {
    let end = nameEnd(name)
    if end == "svgz" { return ("gzip", 1) }
    // Others may be of an archive, of a log, or texts in the language of Brittany.
    guard end == "gz" || end == "br",
      ofPages.contains(nameEnd(name.dropLast(end.utf8.count + 1)))
    else { return nil }
    return (end == "gz" ? "gzip" : "br", end.utf8.count + 1)
  }

  /// The extensions of the files of a page that are compressed for browsers.
  private static let ofPages: Set = ["css", "data", "html", "js", "mjs", "svg", "wasm"]

  /// The extension of a file name, in lowercase.
  static func nameEnd(_ name: some Collection<UInt8>) -> String {
    let bytes = Array(name)
    let base = bytes[((bytes.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1)...]
    guard let dot = base.lastIndex(of: UInt8(ascii: ".")), dot > base.startIndex else { return "" }
    return String(decoding: base[(dot + 1)...].lowercasedASCII, as: UTF8.self)
  }

  /// Whether `contentType` is HTML, regardless of its parameters.
  static func isHTML(_ contentType: some Collection<UInt8>) -> Bool {
    essence(contentType).equalsIgnoringCase("text/html") || isXHTML(contentType)
  }

  /// Whether `contentType` is HTML in the syntax of XML.
  static func isXHTML(_ contentType: some Collection<UInt8>) -> Bool {
    essence(contentType).equalsIgnoringCase("application/xhtml+xml")
  }

  /// Whether `contentType` is JSON, regardless of its parameters.
  static func isJSON(_ contentType: some Collection<UInt8>) -> Bool {
    essence(contentType).equalsIgnoringCase("application/json")
  }

  /// The value of the parameter `charset`, in lowercase.
  static func charset(of contentType: some Collection<UInt8>) -> [UInt8]? {
    let prefix = "charset="
    for part in contentType.split(separator: UInt8(ascii: ";")).dropFirst() {
      let part = Array(part).trimmedBlanks
      guard part.prefix(prefix.utf8.count).equalsIgnoringCase(prefix) else { continue }
      return part.dropFirst(prefix.utf8.count).lowercasedASCII.filter { $0 != UInt8(ascii: "\"") }
    }
    return nil
  }

  private static func essence(_ contentType: some Collection<UInt8>) -> ArraySlice<UInt8> {
    Array(contentType.prefix { $0 != UInt8(ascii: ";") }).trimmedBlanks
  }

  private static let unknown = "application/octet-stream"

  private static let textTypes = table(
    """
    text/html htm html
    application/xhtml+xml xhtml
    text/css css
    text/javascript cjs js jsx mjs
    application/json json map
    application/manifest+json webmanifest
    application/atom+xml atom
    application/rss+xml rss
    image/svg+xml svg
    text/xml xml xsl
    text/vtt vtt
    text/csv csv
    text/markdown markdown md
    application/yaml yaml yml
    text/x-python py
    text/plain log text toml txt ts
    """
  ).merging(["": "text/plain"]) { type, _ in type }

  /// The ends of names of files that are texts, or something else.
  private static let uncertain: Set = ["", "ts"]

  /// Further types, which the system knows.
  private static let system = table(
    String(decoding: (try? fileContents(of: "/etc/mime.types")) ?? [], as: UTF8.self))

  private static let types = table(
    """
    image/* apng avif bmp gif jpeg jxl png webp
    image/jpeg jpg
    image/x-icon ico
    audio/* aac flac ogg wav
    audio/mp4 m4a
    audio/mpeg mp3
    audio/ogg oga opus
    audio/webm weba
    video/* mp4 webm
    video/mp4 m4v
    video/mp2t m2ts
    video/ogg ogv
    video/quicktime mov
    application/vnd.apple.mpegurl m3u8
    application/dash+xml mpd
    font/* otf ttf woff woff2
    model/gltf-binary glb
    model/gltf+json gltf
    application/* pdf wasm zip
    application/gzip gz
    """)

  /// Makes a table of lines, each with a type and the extensions of its files. A star in a type means the extension.
  private static func table(_ text: String) -> [String: String] {
    var table: [String: String] = [:]
    for line in text.split(separator: "\n") {
      let words = line.split { $0 == " " || $0 == "\t" }.map(String.init)
      if words.first?.hasPrefix("#") != false { continue }
      let isNamedLikeFiles = words[0].hasSuffix("/*")
      for end in words.dropFirst() {
        table[end] = isNamedLikeFiles ? words[0].dropLast() + end : words[0]
      }
    }
    return table
  }
}
