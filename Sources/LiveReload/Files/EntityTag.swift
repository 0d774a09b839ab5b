/// A strong entity tag: it changes whenever the bytes of a response do.
struct EntityTag: Hashable, Sendable {
  /// The value of the `ETag` header, with its quotes.
  let text: String

  /// Creates the tag of a file, with the times of its last modification and its last change in nanoseconds: a
  /// build may set the first one back. `variant` distinguishes representations of the same file, such as
  /// one with the client script; only its letters, digits and hyphens are used.
  init(
    inode: UInt64, size: Int, modified: Int64, changed: Int64, variant: String = ""
  ) {
    let numbers = [
      String(inode, radix: 36), String(size, radix: 36), String(modified, radix: 36),
      String(changed, radix: 36),
    ]
    var text = numbers.joined(separator: ".")
    let suffix = variant.utf8.filter {
      $0.isLetterASCII || $0.isDigitASCII || $0 == UInt8(ascii: "-")
    }
    if !suffix.isEmpty { text += "." + String(decoding: suffix, as: UTF8.self) }
    self.text = "\"\(text)\""
  }

  /// Whether the value of an `If-None-Match` header names this tag, or is `*`: status 304. Weak tags match too.
  func matches(ifNoneMatch value: some Collection<UInt8>) -> Bool {
    if Array(value).trimmedBlanks.elementsEqual("*".utf8) { return true }
    // This tag has no comma. Parts of others that have one lack a quote.
    return value.split(separator: UInt8(ascii: ",")).contains { part in
      let tag = Array(part).trimmedBlanks
      return (tag.starts(with: "W/".utf8) ? tag.dropFirst(2) : tag).elementsEqual(text.utf8)
    }
  }

  /// Whether a range may be sent for a request with this `If-Range` header: it has exactly this
  /// tag, or exactly the time of the last change, in seconds since 1970.
  func matches(ifRange value: some Collection<UInt8>, lastModified seconds: Int) -> Bool {
    let value = Array(value).trimmedBlanks
    return value.elementsEqual(text.utf8) || HTTPDate.seconds(in: value) == seconds
  }
}
