/// Times in UTC as text, in formats of `strftime`, with English names. Times are seconds since 1970.
package enum UTCText {
  package static func string(secondsSince1970 seconds: Int, format: String) -> String {
    var text = [CChar](repeating: 0, count: 64)
    let length = Int(csystem_format_time(Int64(seconds), format, &text, UInt(text.count)))
    return String(decoding: text[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Parses a text that is exactly what `string` makes of its time, but for the day of the week.
  package static func seconds(in text: [UInt8], format: String) -> Int? {
    var seconds: Int64 = 0
    // The C function would stop at a NUL.
    if text.contains(0) { return nil }
    let path = Path(bytes: text)
    return path.withCString { csystem_parse_time($0, format, &seconds) } == 0 ? Int(seconds) : nil
  }
}
