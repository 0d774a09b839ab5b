import Foundation
import Support

/// Evaluates the keywords of JSON Schema 2020-12 that the schemas of this project use.
///
/// An unknown keyword is a failure, so that none is ignored by mistake.
package struct SchemaEvaluator {
  private let root: JSONValue
  /// Whether a member that a schema with `properties` does not describe is refused.
  private let isStrict: Bool
  private static let annotations: Set = ["$schema", "$id", "$defs", "title", "description"]

  package init(_ schema: JSONValue, isStrict: Bool = false) {
    root = schema
    self.isStrict = isStrict
  }

  /// The schema of a file in `Documentation`, with which output is compared: a member that it does not
  /// describe is refused, although later versions may have one.
  package init(documented name: String) throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Documentation/\(name)")
    self.init(try JSONValue(parsing: Array(try Data(contentsOf: file))), isStrict: true)
  }

  package struct UnknownKeyword: Error {
    let name: String
  }

  package func accepts(_ value: JSONValue) throws -> Bool {
    try accepts(value, by: root)
  }

  package func accepts(text: String) throws -> Bool {
    try accepts(JSONValue(parsing: Array(text.utf8)))
  }

  private func accepts(_ value: JSONValue, by schema: JSONValue) throws -> Bool {
    if case .boolean(let accepts) = schema.content { return accepts }
    for member in schema.members where !Self.annotations.contains(member.key) {
      guard try accepts(value, member.key, member.value, in: schema) else { return false }
    }
    return true
  }

  private func accepts(
    _ value: JSONValue, _ keyword: String, _ rule: JSONValue, in schema: JSONValue
  ) throws -> Bool {
    switch keyword {
    case "type":
      let names = rule.string.map { [$0] } ?? rule.elements.compactMap(\.string)
      return names.contains { value.isOfType($0) }
    case "enum": return rule.elements.contains { $0.equals(value) }
    case "const": return rule.equals(value)
    case "$ref":
      let name = rule.string?.split(separator: "/").last.map(String.init) ?? ""
      guard let target = root["$defs"]?[name] else { throw UnknownKeyword(name: name) }
      return try accepts(value, by: target)
    case "anyOf": return try rule.elements.contains { try accepts(value, by: $0) }
    case "allOf": return try rule.elements.allSatisfy { try accepts(value, by: $0) }
    case "oneOf": return try rule.elements.count { try accepts(value, by: $0) } == 1
    case "not": return try !accepts(value, by: rule)
    case "if":
      let branch = try accepts(value, by: rule) ? schema["then"] : schema["else"]
      return try branch.map { try accepts(value, by: $0) } ?? true
    case "then", "else": return true
    default: break
    }
    switch value.content {
    case .string(let string): return try accepts(string, keyword, rule)
    case .number(let number): return try accepts(number, keyword, rule)
    case .array(let elements): return try accepts(elements, keyword, rule, in: schema)
    case .object(let members): return try accepts(members, keyword, rule, in: schema)
    case .null, .boolean:
      try Self.check(keyword)
      return true
    }
  }
}

// MARK: - Keywords for one type

extension SchemaEvaluator {
  private static let keywords: Set = [
    "pattern", "minimum", "maximum", "minItems", "maxItems", "uniqueItems", "items", "prefixItems",
    "properties", "required", "additionalProperties", "propertyNames", "minProperties",
    "dependentRequired",
  ]

  private static func check(_ keyword: String) throws {
    if !keywords.contains(keyword) { throw UnknownKeyword(name: keyword) }
  }

  private func accepts(_ string: String, _ keyword: String, _ rule: JSONValue) throws -> Bool {
    guard keyword == "pattern", let pattern = rule.string else {
      try Self.check(keyword)
      return true
    }
    // ECMAScript's $ matches only at the end, ICU's also before a last line break.
    let anchored = pattern.hasSuffix("$") ? pattern.dropLast() + "\\z" : pattern
    let expression = try NSRegularExpression(pattern: anchored)
    let range = NSRange(string.startIndex..., in: string)
    return expression.firstMatch(in: string, range: range) != nil
  }

  private func accepts(_ number: Double, _ keyword: String, _ rule: JSONValue) throws -> Bool {
    switch keyword {
    case "minimum": return number >= rule.number ?? 0
    case "maximum": return number <= rule.number ?? 0
    default:
      try Self.check(keyword)
      return true
    }
  }

  private func accepts(
    _ elements: [JSONValue], _ keyword: String, _ rule: JSONValue, in schema: JSONValue
  ) throws -> Bool {
    switch keyword {
    case "minItems": return Double(elements.count) >= rule.number ?? 0
    case "maxItems": return Double(elements.count) <= rule.number ?? 0
    case "uniqueItems":
      return elements.indices.allSatisfy { index in
        !elements[..<index].contains { $0.equals(elements[index]) }
      }
    case "prefixItems":
      return try zip(elements, rule.elements).allSatisfy { try accepts($0, by: $1) }
    case "items":
      let rest = elements.dropFirst(schema["prefixItems"]?.elements.count ?? 0)
      return try rest.allSatisfy { try accepts($0, by: rule) }
    default:
      try Self.check(keyword)
      return true
    }
  }

  private func accepts(
    _ members: [JSONValue.Member], _ keyword: String, _ rule: JSONValue, in schema: JSONValue
  ) throws -> Bool {
    let keys = Set(members.map(\.key))
    switch keyword {
    case "minProperties": return Double(keys.count) >= rule.number ?? 0
    case "required": return rule.elements.allSatisfy { keys.contains($0.string ?? "") }
    case "propertyNames":
      return try members.allSatisfy { member in
        try accepts(JSONValue(parsing: Array(JSONWriter.quoted(member.key).utf8)), by: rule)
      }
    case "dependentRequired":
      return rule.members.allSatisfy { member in
        !keys.contains(member.key)
          || member.value.elements.allSatisfy { keys.contains($0.string ?? "") }
      }
    case "properties":
      return try members.allSatisfy { member in
        try rule[member.key].map { try accepts(member.value, by: $0) } ?? !isStrict
      }
    case "additionalProperties":
      let known = Set(schema["properties"]?.members.map(\.key) ?? [])
      return try members.allSatisfy { member in
        try known.contains(member.key) || accepts(member.value, by: rule)
      }
    default:
      try Self.check(keyword)
      return true
    }
  }
}

extension JSONValue {
  fileprivate var elements: [JSONValue] {
    if case .array(let elements) = content { elements } else { [] }
  }

  fileprivate var string: String? {
    if case .string(let string) = content { string } else { nil }
  }

  fileprivate var number: Double? {
    if case .number(let number) = content { number } else { nil }
  }

  fileprivate func isOfType(_ name: String) -> Bool {
    switch content {
    case .null: name == "null"
    case .boolean: name == "boolean"
    case .number(let number): name == "number" || (name == "integer" && number.rounded() == number)
    case .string: name == "string"
    case .array: name == "array"
    case .object: name == "object"
    }
  }

  fileprivate func equals(_ other: JSONValue) -> Bool {
    switch (content, other.content) {
    case (.null, .null): true
    case (.boolean(let left), .boolean(let right)): left == right
    case (.number(let left), .number(let right)): left == right
    case (.string(let left), .string(let right)): left == right
    default: false
    }
  }
}
