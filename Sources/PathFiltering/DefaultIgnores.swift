import SystemCalls

/// The built-in list of ignored names, which every other rule can override.
///
/// A name is in this list only if tools write it and people do not: what is missing here costs a run
/// too many, but changes of a source that is ignored are never noticed. Hence no plain words such as
/// `build`, `dist`, `out`, `bin`, `obj`, `coverage`, `target`, `vendor`, `deps` or `venv`: sources are kept
/// in directories of these names, and watchexec and nodemon leave them to `.gitignore` too. `_build` is
/// only used by tools (Mix, dune, rebar3, Sphinx). Where a project is detected, the directories that
/// its own tools write are ignored besides (`ProjectKind.products`). Where a file proves that a tool writes
/// such a directory, rules of their own apply (`markedRules`).
package enum DefaultIgnores {
  static let list = PatternList(patterns.compactMap { GlobPattern(line: $0.utf8) })

  package static let patterns =
    versionControl + buildDirectories + caches + coverage + databases + editorFiles

  /// Directories of version control systems. In worktrees and submodules, `.git` is a file.
  private static let versionControl = [
    ".git", ".hg/", ".svn/", ".bzr/", ".jj/", "_darcs/", ".pijul/", "CVS/",
  ]

  /// Directories of package managers and compilers.
  private static let buildDirectories = [
    ".build/", ".swiftpm/", "DerivedData/",
    "node_modules/", ".next/", ".nuxt/", ".svelte-kit/", ".parcel-cache/", ".turbo/",
    "_build/",
    "__pycache__/", "*.pyc", ".venv/", ".eggs/", "*.egg-info/",
    // CMake and ninja, where the build is in the tree.
    "CMakeFiles/", "cmake_install.cmake", "CTestTestfile.cmake", ".ninja_log", ".ninja_deps",
    ".ninja_lock",
    ".angular/", ".astro/", ".docusaurus/", ".expo/",
    ".gradle/", ".zig-cache/", "zig-cache/", ".dart_tool/", ".stack-work/", ".terraform/",
    ".direnv/",
  ]

  /// Caches of test runners and checkers.
  private static let caches = [
    ".tox/", ".nox/", ".mypy_cache/", ".pytest_cache/", ".ruff_cache/", ".hypothesis/",
    ".benchmarks/", ".ipynb_checkpoints/", ".sass-cache/", ".eslintcache", ".stylelintcache",
    // pytest renames it to .pytest_cache.
    "pytest-cache-files-*",
  ]

  /// Reports of test runners, and reports and raw data of coverage tools.
  private static let coverage = [
    // coverage.py: the data, and the data of each process. `.coveragerc` is its configuration.
    ".coverage", ".coverage.*", "htmlcov/", "coverage.xml", "lcov.info",
    "junit.xml", "nosetests.xml",
    ".nyc_output/", "*.profraw", "*.profdata", "*.gcda",
  ]

  /// The name of directories that hold a report, or sources of people.
  private static let reportDirectory = "coverage"

  /// The rules that apply while a file exists, in its directory. They are numbered after the list.
  static let markedRules: [(marker: IgnoreFileNames, list: PatternList)] = {
    var number = patterns.count
    return [
      // Relative to the parent of the directory, whose entries it ignores.
      (.coverageReport, ["/\(reportDirectory)/*"]),
      (.targetMaker, ["/target/"]),
      // Subprojects need no file of their own. A package of Scala may have this name.
      (.targetsMaker, ["target/", "!**/src/**/target/"]),
    ].map { marker, lines in
      defer { number += lines.count }
      return (
        marker,
        PatternList(
          lines.compactMap { GlobPattern(line: $0.utf8) },
          numbers: lines.indices.map { number + $0 + 1 })
      )
    }
  }()

  /// Whether a report in this directory means that a tool wrote all of its entries.
  package static func isReportDirectory(_ path: Path) -> Bool {
    path.lastComponent.elementsEqual(reportDirectory.utf8)
  }

  /// Databases that a server writes at any time, such as those of SQLite, and their logs. `*.db` may be anything.
  private static let databases = [
    "*.sqlite3", "*.sqlite3-wal", "*.sqlite3-shm", "*.sqlite3-journal",
    "*.sqlite", "*.sqlite-wal", "*.sqlite-shm", "*.sqlite-journal",
    "*.db-wal", "*.db-shm", "*.db-journal",
    // Redis, and the times of Celery beat.
    "dump.rdb", "celerybeat-schedule", "celerybeat-schedule.[bd]*", "celerybeat-schedule-*",
    "celerybeat.pid",
  ]

  private static let sedFiles = "sed" + String(repeating: "[[:alnum:]]", count: 6)

  /// Swap, backup and lock files, temporary files that are renamed to the saved file, and state.
  private static let editorFiles = [
    // vim: swap files, and the file that tests whether a directory can be written.
    ".*.sw?", ".*.sw?x", "4913", "!4913/",
    // Backups of vim, emacs and many others.
    "*~",
    // emacs: locks and auto-saves.
    ".#*", "\\#*#",
    // JetBrains, Kate, GNOME.
    ".idea/", ".vs/", "*___jb_tmp___", "*___jb_old___", ".*.kate-swp", ".goutputstream-*",
    // sed -i: six random letters or digits. With ? for them, sed.swift would be ignored.
    sedFiles, "!\(sedFiles)/",
    // LibreOffice: locks.
    ".~lock.*#",
    // macOS.
    ".DS_Store",
  ]
}
