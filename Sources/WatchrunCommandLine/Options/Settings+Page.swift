// Which options go together with a page.

extension Settings {
  /// Checks the options of pages, and those that do not go with a page.
  func checkPage() throws(UsageError) {
    guard task != .help, task != .version else { return }
    guard let option = pageOption else { return try checkWithoutPage() }
    if served != nil && upstream != nil {
      throw UsageError("a page has either --serve or --proxy: leave out one of them")
    }
    if printMode != nil {
      throw UsageError("--print serves no page: leave out \(option), or leave out --print")
    }
    if task != .run {
      throw UsageError(
        "\(option) does not go with --explain, --list-tasks, --init, --check or --schema: leave it out"
      )
    }
    if isForPageAlone { return try checkPageAlone(option) }
    for name in ["task", "config"] where given.contains(name) {
      throw UsageError("--\(name) goes with a project: leave out \(option), or leave out --\(name)")
    }
    for name in ["once", "until-success"] where given.contains(name) {
      throw UsageError(
        "--\(name) exits after a run, and the page with it: leave out \(option), or --\(name)")
    }
  }

  private var pageOption: String? {
    served != nil ? "--serve" : upstream != nil ? "--proxy" : nil
  }

  private func checkWithoutPage() throws(UsageError) {
    // A project may have pages of its own.
    if isForProject || task.isAboutProject { return }
    for name in ["port", "host", "open", "editor"] where given.contains(name) {
      throw UsageError("--\(name) goes with a page: add --serve DIR or --proxy URL")
    }
  }

  private func checkPageAlone(_ page: String) throws(UsageError) {
    for option in OptionTable.options where given.contains(option.long) {
      if ProjectOptions.needsCommand(option.long) {
        throw UsageError(
          "--\(option.long) goes with a command, as in 'watchrun --proxy :3000 -r -- ./server'; "
            + "none is given")
      }
    }
    for name in ["task", "config"] where given.contains(name) {
      throw UsageError("--\(name) goes with a project: leave out \(page), or leave out --\(name)")
    }
    if separatesByNUL && filesFrom == nil {
      throw UsageError("-0 goes with --files-from, --print, --emit lines or --explain")
    }
  }
}
