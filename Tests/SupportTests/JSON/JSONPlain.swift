import Foundation

@testable import Support

/// A JSON value without positions, in a form in which two parsers can be compared: strings by their
/// bytes, numbers by their bits (except the sign of a zero), of repeated keys only the first.
enum Plain: Hashable, Sendable {
  case null
  case boolean(Bool)
  case bits(UInt64)
  case bytes([UInt8])
  case array([Plain])
  case members([[UInt8]: Plain])

  static func number(_ number: Double) -> Plain {
    .bits(number.isNaN ? Double.nan.bitPattern : number == 0 ? 0 : number.bitPattern)
  }

  static func string(_ string: String) -> Plain { .bytes(Array(string.utf8)) }

  static func object(_ members: KeyValuePairs<String, Plain>) -> Plain {
    .members(Dictionary(members.map { (Array($0.key.utf8), $0.value) }) { first, _ in first })
  }
}

extension Plain {
  init(ofOurs text: some Sequence<UInt8>) throws(JSONSyntaxError) {
    self.init(try JSONValue(parsing: Array(text)))
  }

  private init(_ value: JSONValue) {
    switch value.content {
    case .null: self = .null
    case .boolean(let boolean): self = .boolean(boolean)
    case .number(let number): self = .number(number)
    case .string(let string): self = .string(string)
    case .array(let elements): self = .array(elements.map(Plain.init))
    case .object(let members):
      let pairs = members.map { (Array($0.key.utf8), Plain($0.value)) }
      self = .members(Dictionary(pairs) { first, _ in first })
    }
  }
}

extension Plain {
  /// Whether two keys of an object differ in bytes but are equal strings.
  var hasEqualKeys: Bool {
    switch self {
    case .null, .boolean, .bits, .bytes: false
    case .array(let elements): elements.contains(where: \.hasEqualKeys)
    case .members(let members):
      Set(members.keys.map { String(decoding: $0, as: UTF8.self) }).count < members.count
        || members.values.contains(where: \.hasEqualKeys)
    }
  }
}

extension Plain: Decodable {
  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// `nil` if Foundation refuses the text.
  init?(ofFoundation text: some Sequence<UInt8>) {
    let decoder = JSONDecoder()
    decoder.allowsJSON5 = true
    guard let value = try? decoder.decode(Plain.self, from: Data(text)) else { return nil }
    self = value
  }

  init(from decoder: any Decoder) throws {
    if let object = try? decoder.container(keyedBy: Key.self) {
      let pairs = try object.allKeys.map { key in
        (Array(key.stringValue.utf8), try object.decode(Plain.self, forKey: key))
      }
      self = .members(Dictionary(pairs) { first, _ in first })
    } else if var array = try? decoder.unkeyedContainer() {
      var elements: [Plain] = []
      while !array.isAtEnd { elements.append(try array.decode(Plain.self)) }
      self = .array(elements)
    } else {
      let single = try decoder.singleValueContainer()
      if single.decodeNil() {
        self = .null
      } else if let boolean = try? single.decode(Bool.self) {
        self = .boolean(boolean)
      } else if let number = try? single.decode(Double.self) {
        self = .number(number)
      } else {
        self = .string(try single.decode(String.self))
      }
    }
  }
}
