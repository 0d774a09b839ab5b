import SystemCalls

/// The difference of a path between the beginning of a burst and the present.
struct Fate {
  /// Whether it existed when the burst began.
  let existedBefore: Bool
  /// Whether it exists now.
  private(set) var exists: Bool
  /// Whether the file that was there when the burst began has disappeared from the path.
  private(set) var hasDisappeared = false
  /// That file, if it has disappeared and may be at another path.
  private(set) var before: RawEvent.Sighting?
  /// The file that has appeared since, if it is there now and may have been at another path.
  private(set) var after: RawEvent.Sighting?
  /// What was done to the file that is there now.
  private(set) var traces = Traces()
  private(set) var isOpen = false
  private(set) var type: FileType

  /// What was done to a file in a burst, under this path or others.
  struct Traces {
    var isWritten = false
    var isTouched = false
  }

  /// The fate of a path before its first event.
  init(before event: RawEvent) {
    existedBefore = event.kind != .created
    exists = existedBefore
    type = event.type
  }

  /// The net change of the path, regardless of others.
  var kindInPlace: ChangeBatch.Kind? {
    if !exists { return existedBefore ? .removed : nil }
    if !existedBefore { return .created }
    return hasDisappeared ? .modified : traces.kind
  }

  /// Adds an event. The traces of files that disappear from one path and appear at another are kept
  /// by inode.
  mutating func add(_ event: RawEvent, _ elsewhere: inout [UInt64: Traces]) {
    if event.kind == .removed || event.disappeared != nil {
      disappear(event.disappeared, &elsewhere)
    }
    if event.kind == .created || event.appeared != nil {
      appear(event.appeared, &elsewhere)
    }
    switch event.kind {
    case .created, .removed: break
    case .modified(let isOpen):
      exists = true
      traces.isWritten = traces.isWritten || event.appeared == nil
      self.isOpen = isOpen
    case .metadata: traces.isTouched = true
    }
    if event.type != .unknown { type = event.type }
  }

  private mutating func disappear(
    _ file: RawEvent.Sighting?, _ elsewhere: inout [UInt64: Traces]
  ) {
    if existedBefore && !hasDisappeared { before = file }
    if let file, traces.kind != nil { elsewhere[file.inode] = traces }
    hasDisappeared = true
    exists = false
    after = nil
    traces = Traces()
    isOpen = false
  }

  private mutating func appear(_ file: RawEvent.Sighting?, _ elsewhere: inout [UInt64: Traces]) {
    hasDisappeared = true
    exists = true
    after = file
    traces = file.flatMap { elsewhere.removeValue(forKey: $0.inode) } ?? Traces()
    isOpen = false
  }
}

extension Fate.Traces {
  var kind: ChangeBatch.Kind? { isWritten ? .modified : isTouched ? .metadata : nil }
}
