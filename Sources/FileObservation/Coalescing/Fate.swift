import SystemCalls

/// The difference of a path between the beginning of a burst and the present.
struct Fate {
  let path: Path
  /// The file that was there when the burst began, if it has disappeared and may be elsewhere.
  private(set) var before: RawEvent.Sighting?
  /// The file that has appeared since, if it is there now and may have been elsewhere.
  private(set) var after: RawEvent.Sighting?
  private(set) var type: FileType
  /// Whether the path existed when the burst began.
  let existedBefore: Bool
  /// Whether it exists now.
  private(set) var exists: Bool
  /// Whether the file that was there when the burst began has disappeared.
  private(set) var hasDisappeared = false
  /// What was done to the file that is there now.
  private(set) var traces = Traces()
  private(set) var isOpen = false
  /// The inode of the file that was renamed away, while nothing has the path again.
  private(set) var departed: UInt64?

  /// What was done to a file in a burst, under this path or others.
  struct Traces {
    var isWritten = false
    var isTouched = false
  }

  /// The fate of a path before its first event.
  init(before event: RawEvent) {
    path = event.path
    type = event.type
    existedBefore = event.kind != .created
    exists = existedBefore
  }

  /// The net change of the path, regardless of others.
  var kindInPlace: ChangeBatch.Kind? {
    if !exists { return existedBefore ? .removed : nil }
    if !existedBefore { return .created }
    return hasDisappeared ? .modified : traces.kind
  }

  /// Whether a file is there which has another content, or is another one, than when the burst began, and
  /// which is not open for writing: one that is being written may be empty.
  var isSaved: Bool {
    exists && existedBefore && !isOpen && (hasDisappeared || traces.isWritten) && type == .file
  }

  /// Adds an event. The traces of a file that disappears are kept by its inode: it may be elsewhere.
  mutating func add(_ event: RawEvent, _ elsewhere: inout [UInt64: Traces]) {
    switch event.kind {
    case .removed:
      if existedBefore && !hasDisappeared { before = event.file }
      if let file = event.file, traces.kind != nil {
        elsewhere[file.inode, default: Traces()].formUnion(traces)
      }
      replace(with: nil, exists: false)
      if existedBefore, let file = event.file, file.mayBeRenamed, file.type != .directory {
        departed = file.inode
      }
    case .created:
      replace(with: event.file, exists: true)
    case .modified(let isOpen):
      exists = true
      departed = nil
      traces.isWritten = true
      self.isOpen = isOpen
    case .metadata:
      traces.isTouched = true
    }
    if event.type != .unknown { type = event.type }
  }

  private mutating func replace(with file: RawEvent.Sighting?, exists: Bool) {
    after = file
    self.exists = exists
    hasDisappeared = true
    traces = Traces()
    isOpen = false
    departed = nil
  }
}

extension Fate.Traces {
  var kind: ChangeBatch.Kind? { isWritten ? .modified : isTouched ? .metadata : nil }

  mutating func formUnion(_ other: Self) {
    isWritten = isWritten || other.isWritten
    isTouched = isTouched || other.isTouched
  }
}
