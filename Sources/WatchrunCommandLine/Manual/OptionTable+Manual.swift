extension OptionTable {
  /// The options that print what is installed with the program.
  static let manual: [Option] = [
    Option(
      nil, "man", .init("SECTION", .choice(Manual.names), isOptional: true), .output,
      "Print the manual and exit: 1, or 5 for project files", default: "1"
    ) { (settings, value) throws(UsageError) in
      settings.task = .manual(value.isEmpty ? .command : try choice(value))
    },
    Option(
      nil, "completions", .init("SHELL", .choice(CompletionShell.names)), .output,
      "Print completions for bash, zsh or fish and exit"
    ) { (settings, value) throws(UsageError) in
      settings.task = .completions(try choice(value))
    },
  ]
}
