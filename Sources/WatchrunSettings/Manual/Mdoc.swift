/// Renders lists in mdoc, the markup of manual pages.
enum Mdoc {
  /// - Parameter items: Headings, which are lines of macros, each with a text.
  static func list(_ items: [(heading: String, text: String)]) -> String {
    var list = ".Bl -tag -width Ds\n"
    for item in items { list += ".It \(item.heading)\n" + paragraph(item.text) }
    return list + ".El\n"
  }

  /// The macros for the names of an option and its value.
  static func names(of option: Option) -> String {
    let names = "Fl " + (option.short.map { "\($0) , " } ?? "") + "-" + option.long
    guard let value = option.value else { return names }
    let joint = option.isValueOptional ? "Ns Op = Ns Ar" : "Ar"
    return "\(names) \(joint) \(argument(value))"
  }

  /// Text as one argument of a macro.
  static func argument(_ text: String) -> String {
    var escaped = text.first.map { $0.isLetter || $0.isNumber } == true ? "" : "\\&"
    escaped += text.map { $0 == "\\" ? "\\e" : $0 == "\"" ? "\\(dq" : String($0) }.joined()
    // Punctuation at either end would be set apart from the argument.
    if text.last.map({ $0.isLetter || $0.isNumber }) != true { escaped += "\\&" }
    return text.contains(Character(" ")) ? "\"\(escaped)\"" : escaped
  }

  /// Text as a sentence: with a capital letter and a full stop.
  static func sentence(_ text: String) -> String {
    let capitalized = (text.first?.uppercased() ?? "") + text.dropFirst()
    return capitalized.last == "." ? capitalized : capitalized + "."
  }

  /// Sentences as lines of at most 78 columns, each beginning on a line of its own.
  static func paragraph(_ text: String) -> String {
    HelpText.wrapped(sentence(text), to: 78, bySentence: true).map { escaped($0) + "\n" }.joined()
  }

  /// A line of text, in which nothing is taken for markup.
  private static func escaped(_ line: String) -> String {
    let isControl = line.first == "." || line.first == "'"
    return (isControl ? "\\&" : "")
      + line.map { $0 == "\\" ? "\\e" : String($0) }.joined()
  }
}
