import Support
import SystemCalls

/// Dates in the formats of HTTP. Times are seconds since 1970.
enum HTTPDate {
  /// The formats that clients send, the one that servers send first.
  private static let formats = [
    "%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y",
  ]
  private static let latest = 253_402_300_799

  /// Formats a date as `Sun, 06 Nov 1994 08:49:37 GMT`. Years are clamped to 1970 to 9999.
  static func string(secondsSince1970 seconds: Int) -> String {
    var text = [CChar](repeating: 0, count: 64)
    let time = Int64(min(max(seconds, 0), latest))
    _ = csystem_format_time(time, formats[0], &text, UInt(text.count))
    return Path(cString: text).description
  }

  /// Parses a date in one of three formats: that of `string(secondsSince1970:)`,
  /// `Sunday, 06-Nov-94 08:49:37 GMT` (years from 69 on are in the 20th century), and
  /// `Sun Nov  6 08:49:37 1994`. The day of the week is not compared with the date, and times before 1970 are none.
  static func seconds(in value: some Collection<UInt8>) -> Int? {
    // The C function would stop at a NUL.
    if value.contains(0) { return nil }
    let text = Path(bytes: value)
    return formats.firstResult { format in
      var seconds: Int64 = 0
      let isParsed = text.withCString { csystem_parse_time($0, format, &seconds) } == 0
      return isParsed && seconds >= 0 ? Int(seconds) : nil
    }
  }
}
