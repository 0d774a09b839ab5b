extension Descriptor {
  /// Opens a file for reading that lies beneath a directory, also after all symbolic links are followed.
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
      // An absolute link may lead back into the directory, and old kernels know nothing of this.
      if errno != EXDEV && errno != ENOSYS && errno != EPERM { throw .last("open", path: path) }
    }
    let whole = root.appending(path.bytes)
    let real = try resolvedPath(whole)
    if !followsLinksOut && !real.isWithin(root) {
      throw SystemError(call: "open", code: EXDEV, path: path)
    }
    return try open(real, O_RDONLY | O_NONBLOCK)
  }
}

extension FileStatus {
  /// Of an open file.
  package init(of file: borrowing Descriptor) throws(SystemError) {
    let number = file.number
    try self.init(call: "fstat", path: nil) { status in
      csystem_file_status(number, nil, 0, &status)
    }
  }
}
