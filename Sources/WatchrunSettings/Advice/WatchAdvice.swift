import Support
import SystemCalls

/// Explains why a path to watch does not exist, if it was probably meant otherwise.
package enum WatchAdvice {
  /// - Parameter path: The path as it was given.
  package static func explanation(of path: Path, in directory: Path) -> String? {
    let lack = "cannot watch \(path): no such path"
    if path.bytes.contains(where: Array("*?[{".utf8).contains) {
      return "\(lack), and -w takes no patterns; filter by one: -f \(ShellWords.quoted(path.bytes))"
    }
    for separator in [UInt8(ascii: ","), UInt8(ascii: " "), UInt8(ascii: ":")] {
      let parts = path.bytes.split(separator: separator).map { Path(bytes: $0) }
      let exist = parts.contains { (try? FileStatus(of: $0.absolute(from: directory))) != nil }
      guard parts.count > 1, exist else { continue }
      let options = parts.map { "-w " + ShellWords.quoted($0.bytes) }.joined(separator: " ")
      return "\(lack); give -w before each: \(options)"
    }
    if path.bytes.first == UInt8(ascii: "~") {
      return "\(lack); shells expand ~ only at the beginning of a word: -w \(path)"
    }
    return nil
  }
}
