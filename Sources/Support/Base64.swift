/// The Base64 encoding, with padding.
package enum Base64 {
  package static func encode(_ bytes: [UInt8]) -> String {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var number = group.reduce(0) { $0 << 8 | Int($1) }
      number <<= 8 * (3 - group.count)
      for place in 0..<4 {
        let digit = digits[(number >> (18 - 6 * place)) & 63]
        text.append(place <= group.count ? digit : UInt8(ascii: "="))
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
