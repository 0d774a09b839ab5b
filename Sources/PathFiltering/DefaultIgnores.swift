/// The list of what is ignored unless someone says otherwise: what tools write and no developer
/// edits by hand. Every other rule is stronger.
///
/// A name has to be beyond doubt to stand here. `build`, `dist`, `vendor` and `venv` are not: people
/// keep sources in folders of these names.
package enum DefaultIgnores {
  static let list = PatternList(patterns.compactMap { GlobPattern(line: $0.utf8) })

  package static let patterns =
    versionControl + buildProducts + editorFiles + ["*.pyc", ".DS_Store"]

  /// What version control keeps for itself. In worktrees and submodules `.git` is a file.
  private static let versionControl = [
    ".git", ".hg/", ".svn/", ".bzr/", ".jj/", "_darcs/", ".pijul/", "CVS/",
  ]

  /// What package managers fetch, and what compilers and test runners leave.
  private static let buildProducts = [
    ".build/", ".swiftpm/", "DerivedData/",
    "node_modules/",
    "target/",
    "__pycache__/", ".venv/", ".tox/", ".mypy_cache/", ".pytest_cache/",
  ]

  /// Swap, backup and lock files, and the files that become the saved one by a rename.
  private static let editorFiles = [
    // vim: swap files, and the name with which it finds out whether it may write in a folder.
    ".*.sw?", ".*.sw?x", "4913",
    // Backups of vim, emacs and many others.
    "*~",
    // emacs: locks and automatic saves.
    ".#*", "\\#*#",
    // JetBrains, Kate, GNOME.
    "*___jb_tmp___", "*___jb_old___", ".*.kate-swp", ".goutputstream-*",
    // sed -i: six random letters or digits. With ? for them, sed.swift would be ignored.
    "sed" + String(repeating: "[[:alnum:]]", count: 6),
  ]
}
