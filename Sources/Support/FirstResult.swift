extension Sequence {
  /// The first result that is not `nil`. `lazy.compactMap` with `first` would ask twice, and trap if the answers
  /// differ, as those of the disk may.
  package func firstResult<Result>(_ ask: (Element) throws -> Result?) rethrows -> Result? {
    for element in self {
      if let result = try ask(element) { return result }
    }
    return nil
  }
}
