/// A value of the project file, and where it stands.
struct LocatedValue: Hashable, Sendable {
  let value: JSONValue
  let offset: Int
  /// What is in a table, in the order of the text.
  private(set) var members: [Member] = []
  /// What is in a list.
  private(set) var elements: [LocatedValue] = []

  struct Member: Hashable, Sendable {
    let key: String
    let keyOffset: Int
    let value: LocatedValue
  }

  /// What a text in JSON5 says. The decoder gives the values, the scanner where they are.
  init(_ text: [UInt8]) throws(JSONPlaces.Fault) {
    let top = try JSONPlaces(text).top
    guard let value = JSONValue(decoding: text), let located = LocatedValue(value, at: top) else {
      throw Self.fault(in: top, of: text)
    }
    self = located
  }

  /// Nil if the two disagree on what is there.
  private init?(_ value: JSONValue, at place: JSONPlaces.Place) {
    self.value = value
    offset = place.range.lowerBound
    switch value {
    case .table(let values):
      // Of a key that is given twice, the decoder knows but one; that it is, will be told.
      for member in place.members {
        guard let value = values[member.key] else { return nil }
        let known = members.contains { $0.key == member.key }
        let inner =
          known
          ? LocatedValue(unknownAt: member.value) : LocatedValue(value, at: member.value)
        guard let inner else { return nil }
        members.append(Member(key: member.key, keyOffset: member.keyOffset, value: inner))
      }
    case .list(let values):
      guard values.count == place.elements.count else { return nil }
      for (value, place) in zip(values, place.elements) {
        guard let inner = LocatedValue(value, at: place) else { return nil }
        elements.append(inner)
      }
    case .null, .flag, .number, .text:
      break
    }
  }

  private init?(unknownAt place: JSONPlaces.Place) {
    value = .null
    offset = place.range.lowerBound
  }

  /// Where the decoder sees a fault and the scanner none: in the first value that it does not take by
  /// itself.
  private static func fault(in place: JSONPlaces.Place, of text: [UInt8]) -> JSONPlaces.Fault {
    for inner in place.members.map(\.value) + place.elements
    where JSONValue(decoding: text[inner.range]) == nil {
      return fault(in: inner, of: text)
    }
    return JSONPlaces.Fault(
      offset: place.range.lowerBound,
      message: "this cannot be read as JSON5; write it in the plain way of JSON")
  }
}
