import FileObservation
import SystemCalls

/// The list of paths that `--files-from` reads.
package struct FileList {
  /// The paths that exist, in the order of the list.
  package private(set) var watched: [WatchedPath] = []
  /// A message for each path that does not exist.
  package private(set) var problems: [String] = []

  /// Reads the list from a file, or from standard input if the file is `-`.
  package static func read(
    from file: Path, separatedByNUL: Bool, in directory: Path
  ) throws(Failure) -> FileList {
    let text: [UInt8]
    do throws(SystemError) {
      text = file == "-" ? try readStandardInput() : try readAll(file)
    } catch {
      throw .launch(
        "cannot read the list of files \(file): \(error.reason); "
          + "pass an existing file to --files-from, or - for standard input", ExitCode.noInput)
    }
    let list = FileList(text, separatedByNUL: separatedByNUL, in: directory)
    if list.watched.isEmpty {
      let first = list.problems.first.map { ": " + $0 } ?? ""
      throw .launch("the list of files has no path that exists\(first)", ExitCode.noInput)
    }
    return list
  }

  /// Parses a list. Files are watched by name, directories without their subdirectories.
  init(_ text: [UInt8], separatedByNUL: Bool, in directory: Path) {
    let separator = separatedByNUL ? 0 : UInt8(ascii: "\n")
    var known: Set<Path> = []
    for line in text.split(separator: separator) {
      let path = Path(bytes: line)
      let absolute = path.absolute(from: directory)
      guard known.insert(absolute).inserted else { continue }
      do throws(SystemError) {
        _ = try FileStatus(of: absolute)
        watched.append(WatchedPath(path, isRecursive: false))
      } catch {
        problems.append("cannot watch \(path): \(error.reason)")
      }
    }
  }
}
