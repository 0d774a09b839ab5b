import FileObservation

// Which options can be combined with a page.

extension Settings {
  /// Checks the options of pages, and those that cannot be combined with a page.
  func checkPage() throws(UsageError) {
    guard task != .help, task != .version else { return }
    guard let page = given["serve"] ?? given["proxy"] else { return try checkWithoutPage() }
    if served != nil && upstream != nil {
      throw UsageError(
        "--serve and --proxy exclude each other, unless it names a path, as in --proxy /api=3000")
    }
    if !hasSource, let rule = proxies.first {
      throw UsageError(
        "--proxy \(Path(rule.path))=… leaves other paths unanswered; "
          + "add --serve DIR or --proxy URL")
    }
    if served == nil, let option = given["fallback"] ?? given["listing"] {
      throw UsageError("\(option) is for files; it needs --serve instead of \(page)")
    }
    if let printing = given["print"] {
      throw UsageError("\(printing) serves no page; remove \(printing) or \(page)")
    }
    for name in ["explain", "doctor", "list-tasks", "init", "check", "schema"] {
      guard let option = given[name] else { continue }
      throw UsageError("\(option) serves no page; remove \(option) or \(page)")
    }
    if let option = given["task"] ?? given["config"] {
      throw UsageError("\(option) is for a project; remove \(option) or \(page)")
    }
    if isForPageAlone { return try checkPageAlone() }
    if let option = given["once"] ?? given["until-success"] {
      throw UsageError("\(option) would end the page with a run; remove \(option) or \(page)")
    }
  }

  /// Whether the page answers requests for which there is no rule.
  private var hasSource: Bool { served != nil || upstream != nil }

  private func checkWithoutPage() throws(UsageError) {
    // A project may have pages of its own.
    if isForProject || task.isAboutProject { return }
    for name in ["port", "host", "fallback", "header", "listing", "open", "editor"] {
      guard let option = given[name] else { continue }
      throw UsageError("\(option) needs a page; add --serve DIR or --proxy URL")
    }
  }

  private func checkPageAlone() throws(UsageError) {
    for option in OptionTable.options where ProjectOptions.needsCommand(option.long) {
      guard let written = given[option.long] else { continue }
      throw UsageError(
        "\(written) needs a command, as in: watchrun --proxy :3000 -r -- ./server")
    }
    try checkSeparator()
  }
}
