extension Descriptor {
  /// Opens a file for reading whose path stays within a directory, after all symbolic links are resolved.
  ///
  /// - Parameters:
  ///   - root: The path of the directory, without symbolic links.
  ///   - followsLinksOut: Whether symbolic links may lead out of the directory.
  package static func open(
    _ path: Path, beneath directory: borrowing Descriptor, at root: Path,
    followsLinksOut: Bool = false
  ) throws(SystemError) -> Descriptor {
    let parent = directory.number
    if !followsLinksOut {
      let number = path.withCString { csystem_open_beneath(parent, $0) }
      if number >= 0 { return Descriptor(owning: number) }
      // An absolute link may lead back into the directory, old kernels do not have this call, and a `..` fails while
      // anything is renamed.
      if ![EXDEV, ENOSYS, EPERM, EAGAIN].contains(errno) { throw .last("open", path: path) }
    }
    let whole = root.appending(path.bytes)
    let real = try resolvedPath(whole)
    if !followsLinksOut && !real.isWithin(root) {
      throw SystemError(call: "open", code: EXDEV, path: path)
    }
    return try open(real, O_RDONLY | O_NONBLOCK)
  }
}
