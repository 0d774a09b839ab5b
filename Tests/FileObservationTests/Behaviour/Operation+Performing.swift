import SystemCalls
import TestSupport

extension Operation {
  /// Performs the operation; paths are relative to the directory.
  func perform(in directory: Path) async throws {
    let flags = arguments.filter { $0.first == UInt8(ascii: "-") && $0.count == 2 }
    let words = arguments.filter { !flags.contains($0) }
    let (first, second) = (words.first ?? [], words.dropFirst().first)
    let path = place(first, in: directory)
    let text = second ?? Array("text\n".utf8)
    switch verb {
    case .write: try File.write(text, to: path)
    case .append: try File.write(text, to: path, O_APPEND)
    case .truncate: try File.truncate(path, to: number(second, radix: 10))
    case .mmap: try File.writeThroughMap(path)
    case .mkdir: try flags.isEmpty ? File.makeDirectory(path) : File.makeDirectories(path)
    case .rmdir: try File.removeDirectory(path)
    case .rm: try flags.isEmpty ? File.remove(path) : File.removeTree(path)
    case .mv: try File.move(path, to: place(second ?? [], in: directory))
    case .exchange: try File.exchange(path, place(second ?? [], in: directory))
    case .ln where flags.isEmpty: try File.link(path, as: place(second ?? [], in: directory))
    case .ln: try File.makeLink(place(second ?? [], in: directory), to: Path(bytes: first))
    case .chmod:
      try File.setMode(mode_t(number(first, radix: 8)), of: place(second ?? [], in: directory))
    case .touch: try File.touch(path, isOld: !flags.isEmpty)
    case .mkfifo: try File.makePipe(path)
    case .sh: try await shell(String(decoding: first, as: UTF8.self), in: directory)
    case .linkUnnamed: try File.linkUnnamed(text, as: path)
    case .saveRename, .saveVim, .saveJetBrains, .saveSed, .saveEmacs: try save(text, to: path)
    }
  }

  private func number(_ word: [UInt8]?, radix: Int) throws -> Int {
    let text = String(decoding: word ?? [], as: UTF8.self)
    guard let number = Int(text, radix: radix) else {
      throw ScriptError(file: "", line: line, reason: "'\(text)' is no number")
    }
    return number
  }

  /// Saves a file with the steps of an editor.
  private func save(_ text: [UInt8], to path: Path) throws {
    func sibling(_ prefix: String, _ suffix: String) -> Path {
      let name = Array(prefix.utf8) + Array(path.lastComponent) + Array(suffix.utf8)
      return (path.parent ?? "/").appending(name)
    }
    let directory = path.parent ?? "/"
    switch verb {
    case .saveVim:
      let (probe, backup) = (directory.appending("4913"), sibling("", "~"))
      try File.write([], to: probe)
      try File.remove(probe)
      try File.move(path, to: backup)
      try File.write(text, to: path)
      try File.setMode(0o644, of: path)
      try File.remove(backup)
    case .saveJetBrains:
      let (new, old) = (sibling("", "___jb_tmp___"), sibling("", "___jb_old___"))
      try File.write(text, to: new)
      try File.move(path, to: old)
      try File.move(new, to: path)
      try File.remove(old)
    case .saveSed:
      let new = directory.appending("sedA1b2C3")
      try File.write(text, to: new)
      try File.setMode(0o644, of: new)
      try File.move(new, to: path)
    case .saveEmacs:
      let (lock, backup) = (sibling(".#", ""), sibling("", "~"))
      try File.makeLink(lock, to: "user@host.1:2")
      try File.move(path, to: backup)
      try File.write(text, to: path)
      try File.remove(lock)
    default:
      let new = sibling("", ".new")
      try File.write(text, to: new)
      try File.move(new, to: path)
    }
  }
}
