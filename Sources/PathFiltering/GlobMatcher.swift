import Support

/// Whether `path`, from the byte `start` on, matches the steps.
///
/// It backtracks only to the last star of the present component, and then to the last `**/`.
/// Slashes fix the end of a component, so a choice within it need not be revised later; and an
/// earlier star need not match more if a later one can. So no pattern takes exponential time.
func globMatches(
  _ steps: UnsafeBufferPointer<GlobStep>, _ path: UnsafeBufferPointer<UInt8>, from start: Int,
  ignoringCase: Bool
) -> Bool {
  var step = 0
  var position = start
  // Where to continue after a mismatch: the step after a star, and the first byte that the star has
  // not matched yet.
  var star: (step: Int, position: Int)?
  var directories: (step: Int, position: Int)?

  while true {
    if step == steps.count {
      if position == path.count { return true }
    } else {
      let next = position < path.count ? path[position] : nil
      var advances = false
      switch steps[step] {
      case .byte(let byte):
        advances = byte == (ignoringCase ? next?.lowercasedASCII : next)
      case .oneOf(let set):
        if let next { advances = set.contains(ignoringCase ? next.lowercasedASCII : next) }
      case .anyByte:
        if let next { advances = next != UInt8(ascii: "/") }
      case .separator:
        advances = next == UInt8(ascii: "/")
        if advances { star = nil }
      case .star:
        step += 1
        star = (step, position)
        continue
      case .directories:
        step += 1
        directories = (step, position)
        star = nil
        continue
      case .everything:
        return next != nil
      }
      if advances {
        step += 1
        position += 1
        continue
      }
    }

    if let last = star,
      let next = positionAfter(
        last.position, meeting: last.step < steps.count ? steps[last.step] : nil, in: path,
        ignoringCase: ignoringCase)
    {
      star = (last.step, next)
      (step, position) = (last.step, next)
    } else if let last = directories,
      let slash = path[last.position...].firstIndex(of: UInt8(ascii: "/"))
    {
      directories = (last.step, slash + 1)
      star = nil
      (step, position) = (last.step, slash + 1)
    } else {
      return false
    }
  }
}

/// The position at which to continue if a star also matches the byte at `position`, and further
/// bytes that the next step cannot match; `nil` if the star can match no more.
private func positionAfter(
  _ position: Int, meeting step: GlobStep?, in path: UnsafeBufferPointer<UInt8>,
  ignoringCase: Bool
) -> Int? {
  var position = position
  guard position < path.count, path[position] != UInt8(ascii: "/") else { return nil }
  position += 1
  guard case .byte(let wanted) = step else { return position }
  while position < path.count, path[position] != UInt8(ascii: "/") {
    let byte = path[position]
    if wanted == (ignoringCase ? byte.lowercasedASCII : byte) { return position }
    position += 1
  }
  return nil
}
