import ActionRunning
import FileObservation
import Support

/// Parses command-line arguments by the table of settings.
///
/// Options come first; the first argument that is not an option begins the command. `--` ends the
/// options. A value follows its option as the next argument, after `=`, or directly (`-dsrc`) if the
/// option is a short one. Short options can be combined: `-crv`.
package struct OptionParser {
  private let words: [[UInt8]]
  private var rest: ArraySlice<[UInt8]>
  private let directory: Path
  private var settings = Settings()

  /// Parses the arguments that follow the program's name.
  ///
  /// - Parameter directory: Where they were typed, for advice about options of other tools.
  package static func parse(
    _ words: [[UInt8]], in directory: Path = "/dev/null"
  ) throws(Failure) -> Settings {
    var parser = OptionParser(words: words, rest: words[...], directory: directory)
    return try parser.parse()
  }

  private mutating func parse() throws(Failure) -> Settings {
    let dash = UInt8(ascii: "-")
    var names: [[UInt8]] = []
    while let word = rest.first {
      let isOption = word.first == dash && word.count > 1
      guard isOption || settings.task.isForSession else { break }
      rest = rest.dropFirst()
      if !isOption {
        names.append(word)
        continue
      }
      if word.elementsEqual("--".utf8) {
        settings.isCommandMarked = true
        break
      }
      if word.starts(with: "--".utf8) {
        try parseLong(word)
      } else {
        try parseCluster(word)
      }
    }
    settings.command = names + rest
    settings.optionWords = Array(words[..<rest.startIndex])
    return try settings.checked()
  }

  private mutating func parseLong(_ word: [UInt8]) throws(Failure) {
    let cut = word.firstIndex(of: UInt8(ascii: "="))
    let written = word[..<(cut ?? word.count)].decoded
    let attached = cut.map { Array(word[($0 + 1)...]) }
    guard let setting = Setting.option(String(written.dropFirst(2))), let option = setting.option
    else { throw unknown(written, name: written, attached: attached) }
    if option.value == nil && attached != nil {
      throw .usage("\(written) takes no value\(hint(on: written, nil))")
    }
    try apply(setting, as: written, attached: attached)
  }

  private mutating func parseCluster(_ word: [UInt8]) throws(Failure) {
    try checkDashes(word)
    var letters = word.dropFirst()
    while let letter = letters.popFirst() {
      let short = Character(Unicode.Scalar(letter))
      let written = "-\(short)"
      guard letter < 0x80, let setting = Setting.all.first(where: { $0.option?.short == short })
      else { throw unknown(word.decoded, name: written) }
      if setting.option?.value == nil {
        try apply(setting, as: written, attached: nil)
        continue
      }
      let hasEquals = letters.first == UInt8(ascii: "=")
      let attached = Array(hasEquals ? letters.dropFirst() : letters)
      try apply(setting, as: written, attached: attached.isEmpty && !hasEquals ? nil : attached)
      return
    }
  }

  private mutating func apply(
    _ setting: Setting, as written: String, attached: [UInt8]?
  ) throws(Failure) {
    guard let option = setting.option else { return }
    var value = attached
    if option.isValueOptional {
      if value?.isEmpty == true { throw .usage("\(written): the value after '=' is missing") }
    } else if let expected = option.value, value == nil {
      // `--` ends the options, so it is no value.
      value = rest.first == Array("--".utf8) ? nil : rest.popFirst()
      if value == nil {
        throw .usage(
          "\(written) needs a value: \(written) \(expected)\(hint(on: written, nil))")
      }
      if let word = value, Option.named(word.decoded) != nil {
        throw .usage(
          "\(written) needs a value: \(written) \(expected); '\(word.decoded)' is an option (if it is "
            + "meant: \(written)=\(word.decoded))")
      }
    }
    var reader = ValueReader(value ?? [])
    let assignment =
      value == nil && option.isValueOptional ? setting.omitted : setting.read(&reader)
    if let finding = reader.findings.first {
      throw .usage("\(written): \(finding.message)\(hint(on: written, value))")
    }
    guard let assignment else { return }
    assignment.settings?(&settings)
    settings.given[option.long] = written
    if setting.replacesKeys { settings.replacements.append(assignment) }
  }

  /// - Parameter name: The name of the option in the argument.
  private func unknown(
    _ argument: String, name: String, attached: [UInt8]? = nil
  ) -> Failure {
    let names = Setting.options.map { "--" + $0.long }
    let nearest = nearestName(to: argument.printable, among: names)
    let advice =
      foreign(name, attached: attached).advice ?? nearest.map { "did you mean '\($0)'?" }
      ?? "see watchrun --help"
    return unknown(argument, advice)
  }

  private func unknown(_ argument: String, _ advice: String) -> Failure {
    .usage("unknown option '\(argument.printable)'; \(advice)")
  }

  /// Refuses `-watch`, which would mean `-w atch`.
  private func checkDashes(_ word: [UInt8]) throws(Failure) {
    let written = String(decoding: word.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
    let isLong = Setting.options.contains { "-" + $0.long == written }
    if isLong { throw unknown(written, "did you mean '-\(written)'?") }
    if written.count > 2, let advice = foreign("-" + written).advice {
      throw unknown(written, advice)
    }
  }

  /// The end of a message about a refused value.
  private func hint(on written: String, _ value: [UInt8]?) -> String {
    let refused = value.map { $0.decoded }
    return foreign(written).hint(forValue: refused).map { "; \($0)" } ?? ""
  }

  private func foreign(_ name: String, attached: [UInt8]? = nil) -> ForeignOption {
    let place = settings.directory?.absolute(from: directory) ?? directory
    return ForeignOption(
      name: name, attached: attached, before: Array(words[..<rest.startIndex].dropLast()),
      after: Array(rest), directory: ProjectDirectory(path: place))
  }
}
