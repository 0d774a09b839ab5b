/// The built-in ignore list: files that tools write and no developer edits by hand. All other rules
/// take precedence over it.
///
/// Only unambiguous names are listed. `build`, `dist`, `vendor` and `venv` are not, because some
/// projects keep sources in directories of these names.
package enum DefaultIgnores {
  static let list = PatternList(patterns.compactMap { GlobPattern(line: $0.utf8) })

  package static let patterns =
    versionControl + buildProducts + editorFiles + ["*.pyc", ".DS_Store"]

  /// Directories of version control systems. In worktrees and submodules `.git` is a file.
  private static let versionControl = [
    ".git", ".hg/", ".svn/", ".bzr/", ".jj/", "_darcs/", ".pijul/", "CVS/",
  ]

  /// Directories of package managers, compilers and test runners.
  private static let buildProducts = [
    ".build/", ".swiftpm/", "DerivedData/",
    "node_modules/",
    "target/",
    "__pycache__/", ".venv/", ".tox/", ".mypy_cache/", ".pytest_cache/",
  ]

  /// Swap, backup and lock files, and the temporary files of atomic saves.
  private static let editorFiles = [
    // vim: swap files, and the file by which it tests whether a directory is writable.
    ".*.sw?", ".*.sw?x", "4913",
    // Backups of vim, emacs and many others.
    "*~",
    // emacs: locks and auto-saves.
    ".#*", "\\#*#",
    // JetBrains, Kate, GNOME.
    "*___jb_tmp___", "*___jb_old___", ".*.kate-swp", ".goutputstream-*",
    // sed -i: six random letters or digits. `?` would also match sed.swift.
    "sed" + String(repeating: "[[:alnum:]]", count: 6),
  ]
}
