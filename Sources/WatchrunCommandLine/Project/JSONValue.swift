import FoundationEssentials

/// A JSON value, as the toolchain's decoder gives it.
enum JSONValue: Hashable, Sendable {
  case null
  case flag(Bool)
  case number(Double)
  case text(String)
  case list([JSONValue])
  case table([String: JSONValue])

  /// What a text in JSON5 says; nil if the decoder does not take it.
  init?(decoding text: some Sequence<UInt8>) {
    let decoder = JSONDecoder()
    decoder.allowsJSON5 = true
    guard let value = try? decoder.decode(JSONValue.self, from: Data(text)) else { return nil }
    self = value
  }

  /// For people, with an article.
  var kindName: String {
    switch self {
    case .null: "null"
    case .flag: "a yes or no"
    case .number: "a number"
    case .text: "a text"
    case .list: "a list"
    case .table: "a table"
    }
  }
}

extension JSONValue: Decodable {
  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) {
      self.stringValue = stringValue
    }

    init?(intValue: Int) {
      nil
    }
  }

  init(from decoder: any Decoder) throws {
    if let table = try? decoder.container(keyedBy: Key.self) {
      let pairs = try table.allKeys.map { key in
        (key.stringValue, try table.decode(JSONValue.self, forKey: key))
      }
      self = .table(Dictionary(pairs) { first, _ in first })
    } else if var list = try? decoder.unkeyedContainer() {
      var values: [JSONValue] = []
      while !list.isAtEnd { values.append(try list.decode(JSONValue.self)) }
      self = .list(values)
    } else {
      let single = try decoder.singleValueContainer()
      if single.decodeNil() {
        self = .null
      } else if let flag = try? single.decode(Bool.self) {
        self = .flag(flag)
      } else if let number = try? single.decode(Double.self) {
        self = .number(number)
      } else {
        self = .text(try single.decode(String.self))
      }
    }
  }
}
