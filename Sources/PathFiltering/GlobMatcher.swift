/// One demand that a pattern makes on a path.
enum GlobStep: Sendable, Hashable {
  /// This byte, which is no slash.
  case byte(UInt8)
  /// One byte of the set, which holds no slash.
  case oneOf(ByteSet)
  /// One byte, no slash.
  case anyByte
  /// Any bytes, but no slash: `*`.
  case star
  /// A slash.
  case separator
  /// Any number of names, each with the slash behind it: `**/`.
  case folders
  /// All that is left: `**` at the end.
  case everything
}

/// True if `path`, from the byte `start` on, is what the steps demand.
///
/// A component's end is fixed by the slashes, so a choice made inside it never has to be made again
/// once the component is through; and if one star can take more, there is no use in an earlier one
/// taking more. So it is enough to go back to the last star of this component, and then to the last
/// `**/`. No pattern takes exponential time.
func globMatches(
  _ steps: UnsafeBufferPointer<GlobStep>, _ path: UnsafeBufferPointer<UInt8>, from start: Int,
  ignoringCase: Bool
) -> Bool {
  var step = 0
  var position = start
  // Where to go on when the way that was taken turns out wrong: the step behind a star, and the
  // first byte that the star has not taken yet.
  var star: (step: Int, position: Int)?
  var folders: (step: Int, position: Int)?

  while true {
    if step == steps.count {
      if position == path.count { return true }
    } else {
      let next = position < path.count ? path[position] : nil
      var advances = false
      switch steps[step] {
      case .byte(let byte):
        advances = byte == (ignoringCase ? next?.lowercased : next)
      case .oneOf(let set):
        if let next { advances = set.contains(ignoringCase ? next.lowercased : next) }
      case .anyByte:
        if let next { advances = next != Byte.slash }
      case .separator:
        advances = next == Byte.slash
        if advances { star = nil }
      case .star:
        step += 1
        star = (step, position)
        continue
      case .folders:
        step += 1
        folders = (step, position)
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
    } else if let last = folders,
      let slash = path[last.position...].firstIndex(of: Byte.slash)
    {
      folders = (last.step, slash + 1)
      star = nil
      (step, position) = (last.step, slash + 1)
    } else {
      return false
    }
  }
}

/// Where to go on when a star takes the byte at `position`, and then as many more as it takes until
/// the step behind it has a chance; nil if the star can take no more.
private func positionAfter(
  _ position: Int, meeting step: GlobStep?, in path: UnsafeBufferPointer<UInt8>,
  ignoringCase: Bool
) -> Int? {
  var position = position
  guard position < path.count, path[position] != Byte.slash else { return nil }
  position += 1
  guard case .byte(let wanted) = step else { return position }
  while position < path.count, path[position] != Byte.slash {
    let byte = path[position]
    if wanted == (ignoringCase ? byte.lowercased : byte) { return position }
    position += 1
  }
  return nil
}
