#if canImport(Darwin)

import Darwin
import System

extension Path {
  /// Creates the path that a `FilePath` holds.
  public init(_ path: FilePath) {
    self = path.withPlatformString { name in
      Path(bytes: UnsafeRawBufferPointer(start: name, count: strlen(name)))
    }
  }
}

extension FilePath {
  /// Creates the path that a `Path` holds.
  public init(_ path: Path) {
    self = path.withCString { FilePath(platformString: $0) }
  }
}

#endif  // canImport(Darwin)
