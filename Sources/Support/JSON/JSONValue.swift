/// A JSON5 value and its position in the text.
package struct JSONValue: Hashable, Sendable {
  /// The value itself. Children carry positions of their own.
  package enum Content: Hashable, Sendable {
    case null
    case boolean(Bool)
    case number(Double)
    case string(String)
    case array([JSONValue])
    /// In the order of the text. A repeated key occurs repeatedly.
    case object([Member])
  }

  /// A key and its value.
  package struct Member: Hashable, Sendable {
    package let key: String
    /// The offset of the key in bytes.
    package let keyOffset: Int
    package let value: JSONValue
  }

  package let content: Content
  /// The offset of the value in bytes.
  package let offset: Int

  init(_ content: Content, at offset: Int) {
    self.content = content
    self.offset = offset
  }

  /// Parses a JSON5 text in UTF-8.
  ///
  /// - Parameter example: The example that the error for an empty text shows.
  package init(parsing text: [UInt8], example: String = "{}") throws(JSONSyntaxError) {
    var parser = JSONParser(text, example: example)
    self = try parser.parse()
  }

  /// Parses the value that begins at an offset of a text, without space before it, and moves the offset to its end.
  /// After an error, the offset is unchanged.
  package init(parsing text: [UInt8], from offset: inout Int) throws(JSONSyntaxError) {
    var parser = JSONParser(text, example: "{}")
    parser.offset = offset
    self = try parser.parseValue()
    offset = parser.offset
  }

  /// The members of an object; empty for any other value.
  package var members: [Member] {
    if case .object(let members) = content { members } else { [] }
  }

  /// The value of a key of an object. Of a repeated key, the last value is used, as in JavaScript.
  package subscript(key: String) -> JSONValue? {
    members.last { $0.key == key }?.value
  }

  /// The text of a string; `nil` for any other value.
  package var text: String? {
    if case .string(let text) = content { text } else { nil }
  }

  /// A number of at most 10^15; `nil` for any other value.
  package var number: Double? {
    if case .number(let number) = content, abs(number) <= 1e15 { number } else { nil }
  }

  /// The same if it is an integer.
  package var int: Int? { number.flatMap { Int(exactly: $0) } }

  package var bool: Bool? {
    if case .boolean(let bool) = content { bool } else { nil }
  }

  /// The elements of an array; empty for any other value.
  package var elements: [JSONValue] {
    if case .array(let values) = content { values } else { [] }
  }

  /// The kind of value with its article, for messages.
  package var kindName: String {
    switch content {
    case .null: "null"
    case .boolean: "a boolean"
    case .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

/// The reason why a text is not JSON5, and its position.
package struct JSONSyntaxError: Error, Hashable {
  /// The offset of the error in bytes.
  package var offset: Int
  package var message: String
}
