/// An operation of a script.
struct Operation: Sendable, Hashable {
  var verb: Verb
  var arguments: [[UInt8]]
  /// The line number in the script.
  var line: Int
}

/// The operations of scripts.
enum Verb: String, Sendable, Hashable, CaseIterable {
  case write, append, truncate, mmap, mkdir, rmdir, rm, mv, exchange, ln, chmod, touch, mkfifo, sh
  case linkUnnamed = "link-unnamed"
  case saveRename = "save-rename"
  case saveVim = "save-vim"
  case saveJetBrains = "save-jetbrains"
  case saveSed = "save-sed"
  case saveEmacs = "save-emacs"

  /// The name in scripts.
  var usage: String {
    switch self {
    case .write: "write PATH [TEXT]"
    case .append: "append PATH [TEXT]"
    case .truncate: "truncate PATH SIZE"
    case .mmap: "mmap PATH"
    case .mkdir: "mkdir [-p] PATH"
    case .rmdir: "rmdir PATH"
    case .rm: "rm [-r] PATH"
    case .mv: "mv OLD NEW"
    case .exchange: "exchange ONE OTHER"
    case .ln: "ln [-s] TARGET PATH"
    case .chmod: "chmod MODE PATH"
    case .touch: "touch [-d] PATH"
    case .mkfifo: "mkfifo PATH"
    case .sh: "sh LINE"
    case .linkUnnamed: "link-unnamed PATH [TEXT]"
    case .saveRename, .saveVim, .saveJetBrains, .saveSed, .saveEmacs: "\(rawValue) PATH [TEXT]"
    }
  }

  /// The number of arguments.
  var argumentCounts: ClosedRange<Int> {
    switch self {
    case .mmap, .rmdir, .mkfifo, .sh: 1...1
    case .mkdir, .rm, .touch: 1...2
    case .write, .append, .linkUnnamed: 1...2
    case .saveRename, .saveVim, .saveJetBrains, .saveSed, .saveEmacs: 1...2
    case .truncate, .mv, .exchange, .chmod: 2...2
    case .ln: 2...3
    }
  }
}
