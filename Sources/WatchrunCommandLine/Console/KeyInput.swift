import WatchrunSettings

/// What is typed: keys, and after `t` the name of a task, up to the key Enter. A pure state machine.
struct KeyInput {
  private static let maximumTyped = 8
  private static let escape: UInt8 = 0x1B

  private var name: [UInt8]?

  /// Returns the keys in bytes that were read at once. More than a few bytes are pasted text, and an escape
  /// character begins a function key.
  mutating func keys(in bytes: [UInt8]) -> [Key] {
    let isName = name != nil || bytes.starts(with: "t ".utf8)
    if !isName && (bytes.first == Self.escape || bytes.count > Self.maximumTyped) { return [] }
    var keys: [Key] = []
    for byte in bytes {
      if let typed = name {
        keys.append(consume(byte, typed))
        if byte == Self.escape { break }
      } else if let key = Key(byte) {
        if key == .typed("") { name = [] }
        keys.append(key)
      }
    }
    return keys
  }

  /// Ends a name that is not complete. Returns the key for it, if there is such a name.
  mutating func end() -> Key? {
    exchange(&name, with: nil).map { _ in .giveTerminal(nil) }
  }

  private mutating func consume(_ byte: UInt8, _ typed: [UInt8]) -> Key {
    switch byte {
    case UInt8(ascii: "\r"), UInt8(ascii: "\n"):
      name = nil
      let words = String(decoding: typed, as: UTF8.self).split(separator: " ")
      return .giveTerminal(words.joined(separator: " "))
    case 0x08,
      0x7F where !typed.isEmpty:
      // A character is removed as a whole.
      let text = String(decoding: typed, as: UTF8.self).dropLast()
      name = Array(text.utf8)
    case 0..<0x20, 0x7F:
      name = nil
      return .giveTerminal(nil)
    case 0x20 where typed.isEmpty: break
    default: name = typed + [byte]
    }
    return .typed(String(decoding: name ?? [], as: UTF8.self))
  }
}
