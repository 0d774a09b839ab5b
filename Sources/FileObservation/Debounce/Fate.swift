import SystemCalls

/// The state of a path at the beginning of a burst, and at present.
struct Fate {
  /// Whether it existed when the burst began.
  let existedBefore: Bool
  /// Whether it exists now.
  var exists: Bool
  var isWritten = false
  var isTouched = false
  var isOpen = false
  /// Its path when the burst began, if it has been renamed since.
  var origin: Path?
  var type: FileType
  /// Its index among the paths of the burst.
  var position = 0

  init(existedBefore: Bool, exists: Bool, type: FileType) {
    self.existedBefore = existedBefore
    self.exists = exists
    self.type = type
  }

  /// The net change of a path that has not been renamed.
  var kindInPlace: ChangeBatch.Kind? {
    if !existedBefore { return .created }
    if isWritten { return .modified }
    return isTouched ? .metadata : nil
  }
}
