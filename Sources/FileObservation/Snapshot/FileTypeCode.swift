import SystemCalls

/// The type as one byte, for records of which there are many.
extension FileType {
  var code: UInt8 {
    switch self {
    case .unknown: 0
    case .file: 1
    case .directory: 2
    case .symlink: 3
    case .other: 4
    }
  }

  init(code: UInt8) {
    switch code {
    case 1: self = .file
    case 2: self = .directory
    case 3: self = .symlink
    case 4: self = .other
    default: self = .unknown
    }
  }
}
