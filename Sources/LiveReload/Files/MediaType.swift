/// Media types by file name extension.
enum MediaType {
  /// The value of `Content-Type` for a file of this name.
  ///
  /// - Parameter isUTF8: Whether the file is text in UTF-8. The encoding of another text is declared
  ///   by the text itself, which a `charset` here would override.
  static func of(_ name: some Collection<UInt8>, isUTF8: Bool) -> String {
    let end = nameEnd(name)
    if let type = textTypes[end] { return isUTF8 ? type + "; charset=utf-8" : type }
    return types[end] ?? unknown
  }

  /// Whether a file of this name is text.
  static func isText(_ name: some Collection<UInt8>) -> Bool { textTypes[nameEnd(name)] != nil }

  /// The extension of a file name, in lowercase.
  private static func nameEnd(_ name: some Collection<UInt8>) -> String {
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

  private static let textTypes: [String: String] = [
    "appcache": "text/cache-manifest",
    "atom": "application/atom+xml",
    "cjs": "text/javascript",
    "css": "text/css",
    "csv": "text/csv",
    "htm": "text/html",
    "html": "text/html",
    "ics": "text/calendar",
    "js": "text/javascript",
    "json": "application/json",
    "json5": "application/json5",
    "jsonld": "application/ld+json",
    "jsx": "text/javascript",
    "geojson": "application/geo+json",
    "log": "text/plain",
    "map": "application/json",
    "markdown": "text/markdown",
    "md": "text/markdown",
    "mjs": "text/javascript",
    "rss": "application/rss+xml",
    "svg": "image/svg+xml",
    "text": "text/plain",
    "toml": "application/toml",
    "tsv": "text/tab-separated-values",
    "txt": "text/plain",
    "vcf": "text/vcard",
    "vtt": "text/vtt",
    "webmanifest": "application/manifest+json",
    "xhtml": "application/xhtml+xml",
    "xml": "text/xml",
    "xsl": "text/xml",
    "yaml": "application/yaml",
    "yml": "application/yaml",
  ]

  private static let types: [String: String] = [
    "7z": "application/x-7z-compressed",
    "aac": "audio/aac",
    "apng": "image/apng",
    "avif": "image/avif",
    "bmp": "image/bmp",
    "br": "application/octet-stream",
    "bz2": "application/x-bzip2",
    "eot": "application/vnd.ms-fontobject",
    "epub": "application/epub+zip",
    "flac": "audio/flac",
    "gif": "image/gif",
    "glb": "model/gltf-binary",
    "gltf": "model/gltf+json",
    "gz": "application/gzip",
    "heic": "image/heic",
    "ico": "image/x-icon",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "jxl": "image/jxl",
    "m4a": "audio/mp4",
    "m4v": "video/mp4",
    "mid": "audio/midi",
    "mov": "video/quicktime",
    "mp3": "audio/mpeg",
    "mp4": "video/mp4",
    "mpeg": "video/mpeg",
    "oga": "audio/ogg",
    "ogg": "audio/ogg",
    "ogv": "video/ogg",
    "opus": "audio/ogg",
    "otf": "font/otf",
    "pdf": "application/pdf",
    "png": "image/png",
    "rtf": "application/rtf",
    "tar": "application/x-tar",
    "tif": "image/tiff",
    "tiff": "image/tiff",
    "ttc": "font/collection",
    "ttf": "font/ttf",
    "wasm": "application/wasm",
    "wav": "audio/wav",
    "weba": "audio/webm",
    "webm": "video/webm",
    "webp": "image/webp",
    "woff": "font/woff",
    "woff2": "font/woff2",
    "xz": "application/x-xz",
    "zip": "application/zip",
    "zst": "application/zstd",
  ]
}
