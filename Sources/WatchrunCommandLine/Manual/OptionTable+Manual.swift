extension OptionTable {
  /// The options that print what belongs to an installed program.
  static let manual: [Option] = [
    Option(nil, "man", "[=SECTION]", .output, "Print the manual: 1 (default), 5 (project file)") {
      (settings, value) throws(UsageError) in
      settings.task = .manual(value.isEmpty ? .command : try choice(value))
    }
  ]
}
