import FileObservation

/// All options, in the order of the help.
enum OptionTable {
  static let options: [Option] =
    watching + filtering + timing + running + page + project + session + output + manual

  private static let watching: [Option] = [
    Option(
      "w", "watch", .init("PATH", .path), .watching, "Watch PATH recursively",
      default: "current directory", isRepeatable: true
    ) { (settings, value) throws(UsageError) in
      settings.watched.append(WatchedPath(try path(value)))
    },
    Option(
      "W", "watch-shallow", .init("PATH", .path), .watching,
      "Watch PATH without its subdirectories", isRepeatable: true
    ) { (settings, value) throws(UsageError) in
      settings.watched.append(WatchedPath(try path(value), isRecursive: false))
    },
    Option(
      nil, "files-from", .init("FILE", .file), .watching,
      "Watch the paths listed in FILE (-: standard input)"
    ) { (settings, value) throws(UsageError) in
      settings.filesFrom = try path(value)
    },
    Option("L", "follow-symlinks", nil, .watching, "Follow symbolic links to directories") {
      settings, _ in settings.followsLinks = true
    },
    Option(
      nil, "poll", .init("TIME", .duration, isOptional: true), .watching,
      "Poll instead of using kernel events (network drives)"
    ) { (settings, value) throws(UsageError) in
      settings.polling = try polling(value)
    },
    Option("C", "directory", .init("DIR", .directory), .watching, "Change to DIR first") {
      (settings, value) throws(UsageError) in
      settings.directory = try path(value)
    },
    Option(nil, "doctor", nil, .watching, "Report what is watched and what limits it, and exit") {
      settings, _ in settings.task = .doctor
    },
  ]

  private static let filtering: [Option] = [
    Option(
      "e", "exts", .init("LIST", .extensions), .filtering,
      "Only files with these extensions, such as c,h", isRepeatable: true
    ) { (settings, value) throws(UsageError) in
      settings.extensions += try extensions(value)
    },
    Option(
      "f", "filter", .init("GLOB", .pattern), .filtering,
      "Only paths that match GLOB (gitignore syntax)", isRepeatable: true
    ) { (settings, value) throws(UsageError) in
      settings.filters += try globs(value)
    },
    Option(
      "i", "ignore", .init("GLOB", .pattern), .filtering,
      "Ignore paths that match GLOB (gitignore syntax)", isRepeatable: true
    ) { (settings, value) throws(UsageError) in
      settings.ignores += try globs(value)
    },
    Option(
      nil, "no-vcs-ignore", nil, .filtering, "Do not read .gitignore and other files of git"
    ) { settings, _ in settings.ignoreSources.remove(.versionControl) },
    Option(nil, "no-project-ignore", nil, .filtering, "Do not read .ignore and .watchrunignore") {
      settings, _ in settings.ignoreSources.remove(.project)
    },
    Option(
      nil, "no-global-ignore", nil, .filtering, "Do not read the ignore files in ~/.config"
    ) { settings, _ in settings.ignoreSources.remove(.global) },
    Option(
      nil, "no-default-ignore", nil, .filtering, "Do not ignore .git, node_modules and similar"
    ) { settings, _ in settings.ignoreSources.remove(.defaults) },
    Option(nil, "ignore-nothing", nil, .filtering, "Use no ignore rules except those of -i") {
      settings, _ in settings.ignoreSources = []
    },
    Option(
      nil, "explain", nil, .filtering, "Print the rule that decides for each PATH, and exit"
    ) { settings, _ in settings.task = .explain },
    Option(
      nil, "events", .init("LIST", .choices(ChangeBatch.Kind.names)), .filtering,
      "Only these events: create, modify, remove, rename, metadata",
      default: "all except metadata; with --print, all"
    ) { (settings, value) throws(UsageError) in
      settings.kinds = try kinds(value)
    },
    Option(
      nil, "skip-unchanged", nil, .filtering, "Ignore saves that do not change a file's content"
    ) { settings, _ in settings.skipsUnchanged = true },
  ]

  private static let timing: [Option] = [
    Option(
      "d", "debounce", .init("TIME", .duration), .timing, "Quiet period before a run, e.g. 50ms",
      default: "auto"
    ) { (settings, value) throws(UsageError) in
      let isAuto = value.elementsEqual("auto".utf8)
      settings.quietPeriod = isAuto ? .adaptive : .fixed(try duration(value))
    },
    Option(
      nil, "max-wait", .init("TIME", .duration), .timing, "Run after TIME even if changes go on",
      default: "1s"
    ) { (settings, value) throws(UsageError) in
      settings.longestWait = try duration(value)
    },
    Option("p", "postpone", nil, .timing, "Wait for a change before the first run") {
      settings, _ in settings.isPostponed = true
    },
    Option(nil, "once", nil, .timing, "Exit after the first run, with its status") {
      settings, _ in settings.endsAfterFirstRun = true
    },
    Option(nil, "exit-on-error", nil, .timing, "Exit after the first run that fails") {
      settings, _ in settings.endsOnFailure = true
    },
    Option(nil, "until-success", nil, .timing, "Exit after the first run that succeeds") {
      settings, _ in settings.endsOnSuccess = true
    },
  ]
}
