import SystemCalls
import WatchrunSettings

extension Manual {
  /// Shell lines that format a page and show it page by page. The program comes first.
  private static let viewers = ["mandoc -a", "man -l -"]

  /// Shows the page in place of this process. Returns if standard output is no terminal, or if no
  /// program is installed for that.
  func showFormatted() {
    let directories = programDirectories()
    func find(_ name: some Sequence<UInt8>) -> Path? { findProgram(Array(name), in: directories) }
    guard Terminal.isTerminal(STDOUT_FILENO), let own = processArguments().first.flatMap(find),
      let viewer = Self.viewers.first(where: { find($0.utf8.prefix { $0 != 0x20 }) != nil })
    else { return }
    let line = #""$0" "$1" | "# + viewer
    let words = ["sh".word, "-c".word, line.word, own.bytes, "--man=\(rawValue)".word]
    becomeProgram("/bin/sh", words)
  }
}
