import SystemCalls
import TestSupport

@testable import WatchrunCommandLine

/// A directory with these files; a name that ends with a slash is a directory.
func projectDirectory(_ files: [String: String]) throws -> TemporaryDirectory {
  let directory = try TemporaryDirectory()
  for (name, text) in files {
    if name.hasSuffix("/") {
      try directory.makeDirectories(name)
    } else {
      if let slash = name.lastIndex(of: "/") {
        try directory.makeDirectories(String(name[..<slash]))
      }
      try directory.write(text, to: name)
    }
  }
  return directory
}

extension TemporaryDirectory {
  /// The directory for detection, on a computer without programs.
  var project: ProjectDirectory { ProjectDirectory(path: path) { _ in false } }
}
