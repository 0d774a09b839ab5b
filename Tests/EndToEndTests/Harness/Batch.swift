/// A line of `--print json`.
struct Batch: Decodable, Hashable, Sendable {
  struct Change: Decodable, Hashable, Sendable {
    var path: String
    var kind: String
    var type: String
    var from: String?
    var pathBase64: String?
  }

  var batch: Int
  var reason: String
  var changes: [Change]
  var overflow: Bool
}

/// The first line of `--print json`.
struct Readiness: Decodable, Hashable, Sendable {
  var ready: Bool
  var watches: Int
  var backend: String
}
