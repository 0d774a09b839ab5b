/// The type of a file.
public enum FileType: String, Sendable, Hashable, CaseIterable {
  /// A regular file.
  case file
  /// A directory.
  case directory
  /// A symbolic link, not its target.
  case symlink
  /// A pipe, a socket or a device.
  case other
  /// Not known, because the file is gone.
  case unknown
}

extension FileType {
  /// Converts a directory entry's `d_type`; `nil` for `DT_UNKNOWN`.
  @inlinable
  init?(entryType: UInt8) {
    switch Int(entryType) {
    case Int(DT_REG): self = .file
    case Int(DT_DIR): self = .directory
    case Int(DT_LNK): self = .symlink
    case Int(DT_UNKNOWN): return nil
    default: self = .other
    }
  }

  /// A directory entry's `d_type` that is converted to this type.
  var entryType: UInt8 {
    switch self {
    case .file: UInt8(DT_REG)
    case .directory: UInt8(DT_DIR)
    case .symlink: UInt8(DT_LNK)
    case .other: UInt8(DT_FIFO)
    case .unknown: UInt8(DT_UNKNOWN)
    }
  }

  /// Converts a file's mode.
  init(mode: UInt32) {
    switch mode_t(mode) & S_IFMT {
    case S_IFREG: self = .file
    case S_IFDIR: self = .directory
    case S_IFLNK: self = .symlink
    default: self = .other
    }
  }
}
