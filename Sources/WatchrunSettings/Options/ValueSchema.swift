import LiveReload
import Support
import SystemCalls

/// The parts of a JSON schema for values: what ``ValueType`` accepts, as far as a schema can say it.
enum ValueSchema {
  /// The keywords for a kind of value, without the braces.
  static func keywords(for kind: ValueKind) -> String {
    switch kind {
    case .boolean: return #""type": "boolean""#
    case .count(let range):
      return
        #""type": "integer", "minimum": \#(range.lowerBound), "maximum": \#(range.upperBound)"#
    case .port: return port
    case .portOrAuto: return anyOf(#""const": "auto""#, port)
    case .listenAddress:
      return anyOf(port, matching("auto|(?:(?:localhost|\(ipv4)|\(ipv6))?:)?\(portNumber)"))
    case .url: return matching(url)
    case .statuses: return oneOrMore(status, #""minItems": 1"#)
    case .servers:
      let server = anyOf(port, matching(serverURL), matching(taskName))
      return anyOf(
        port, matching(serverURL), matching(taskName),
        #""type": "object", "minProperties": 1, "propertyNames": { \#(matching(proxyPath)) }, "#
          + #""additionalProperties": { \#(server) }"#)
    case .string, .file, .directory, .shellLine: return nonEmpty
    case .shell: return #"\#(nonEmpty), "not": { "const": "none" }"#
    case .command: return anyOf(nonEmpty, words)
    case .duration: return matching(duration)
    case .positiveDuration: return matching("\(positive)(?:\(duration))")
    case .quietPeriod: return anyOf(#""const": "auto""#, matching(duration))
    case .polling: return anyOf(#""type": "boolean""#, matching(interval))
    case .signal: return anyOf(#""enum": [\#(list(Signal.names))]"#, matching(signal))
    case .choice(let names): return #""enum": [\#(list(names))]"#
    case .choices(let names): return oneOrMore(#""enum": [\#(list(names))]"#, #""minItems": 1"#)
    case .paths, .files: return oneOrMore(nonEmpty)
    case .hosts: return oneOrMore(matching("[A-Za-z0-9_.:%-]+"))
    case .globs: return oneOrMore(matching(glob))
    case .extensions: return oneOrMore(nonEmpty)
    case .taskNames: return oneOrMore(nonEmpty, #""uniqueItems": true"#)
    case .variables:
      return #""type": "object", "propertyNames": { \#(matching(#"[^=\u0000]+"#)) }, "#
        + #""additionalProperties": { \#(anyText) }"#
    case .headers:
      return #""type": "object", "propertyNames": { \#(matching(headerName)) }, "#
        + #""additionalProperties": { \#(matching(#"[^\u0000-\u0008\u000A-\u001F\u007F]*"#)) }"#
    case .testMap:
      return #""type": "object", "minProperties": 1, "propertyNames": { \#(nonEmpty) }, "#
        + #""additionalProperties": { \#(oneOrMore(nonEmpty, #""minItems": 1"#)) }"#
    case .readiness: return ##""$ref": "#/$defs/ready""##
    case .tasks:
      return #""type": "object", "minProperties": 1, "#
        + #""propertyNames": { \#(matching(taskName)) }, "additionalProperties": "#
        + ##"{ "anyOf": [{ "$ref": "#/$defs/task" }, { "$ref": "#/$defs/page" }] }"##
    }
  }

  private static let port = #""type": "integer", "minimum": 1, "maximum": 65535"#
  private static let status = #""type": "integer", "minimum": 100, "maximum": 599"#
  private static let anyText = matching(#"[^\u0000]*"#)
  private static let nonEmpty = matching(#"[^\u0000]+"#)
  private static let words =
    #""type": "array", "minItems": 1, "prefixItems": [{ \#(nonEmpty) }], "items": { \#(anyText) }"#

  private static func anyOf(_ schemas: String...) -> String {
    #""anyOf": [\#(schemas.map { "{ \($0) }" }.joined(separator: ", "))]"#
  }

  /// One value, or an array of such values.
  private static func oneOrMore(_ schema: String, _ rules: String...) -> String {
    let array = [#""type": "array""#] + rules + [#""items": { \#(schema) }"#]
    return anyOf(schema, array.joined(separator: ", "))
  }

  private static func list(_ names: [String]) -> String {
    names.map { JSONWriter.quoted($0) }.joined(separator: ", ")
  }

  /// A string that matches a regular expression from its beginning to its end.
  private static func matching(_ expression: String) -> String {
    #""type": "string", "pattern": \#(JSONWriter.quoted("^(?:\(expression))$"))"#
  }
}

// MARK: - Regular expressions

extension ValueSchema {
  private static let number = "(?:[0-9]+[.]?[0-9]*|[.][0-9]+)"
  private static let positive = "(?=[^1-9]*[1-9])"
  private static let duration = "\(number)(?:us|ms|s|m|min|h)|0+[.]?0*|[.]0+"
  /// At least ten milliseconds.
  private static let interval =
    "0*[1-9][0-9]+(?:[.][0-9]*)?ms|0*[1-9][0-9]{4,}(?:[.][0-9]*)?us"
    + "|0*[1-9][0-9]*(?:[.][0-9]*)?(?:s|m|min|h)|0*[.](?:0[1-9]|[1-9])[0-9]*(?:s|m|min|h)"
  private static let taskName = #"(?![-.:])(?:[A-Za-z0-9_$.:-]|[^\u0000-\u007F])+"#

  private static func anyCase(_ text: String) -> String {
    text.map { $0.isLetter ? "[\($0.uppercased())\($0.lowercased())]" : "\($0)" }.joined()
  }

  private static var headerName: String {
    let reserved = HeaderField.reserved.map(anyCase).joined(separator: "|")
    return "(?!(?:\(reserved))$)[A-Za-z0-9!#$%&'*+.^_`|~-]+"
  }

  /// A name in either case, with or without SIG, or a number.
  private static var signal: String {
    let names = Signal.names.map(anyCase).joined(separator: "|")
    return "(?:\(anyCase("SIG")))?(?:\(names))|[+]?0*(?:[1-9]|[1-5][0-9]|6[0-4])"
  }

  private static let visible = #"[^\u0000- \u007F]"#
  private static let host =
    #"(?:\[[^\u0000- \u007F\]/?#]+\]|[^\u0000- \u007F/?#:@\[][^\u0000- \u007F/?#:@]*)"#
  private static let portNumber =
    "0*(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}"
    + "|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
  private static let ipv4 = {
    let number = "(?:[1-9]?[0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])"
    return "(?:\(number)[.]){3}\(number)"
  }()
  private static let ipv6 = #"\[[0-9A-Fa-f]*:[0-9A-Fa-f:.]+\]"#
  private static let authority = "\(host)(?::\(portNumber))?"
  private static let url = "[Hh][Tt][Tt][Pp][Ss]?://\(authority)(?:[/?#]\(visible)*)?"
  private static let serverURL =
    #"[Hh][Tt][Tt][Pp]://\#(authority)(?:/[^\u0000- \u007F?#]*)?(?:#\#(visible)*)?"#

  private static let proxyPath = {
    let letter = #"(?:[^\u0000- \u007F/?#*%]|%[0-9A-Fa-f]{2})"#
    return "/|(?:/\(letter)+)+/?"
  }()

  /// Names between single slashes, in which brackets are closed and backslashes escape something.
  private static let glob: String = {
    let letter = #"(?:[^\u0000\\\[/]|\\[^\u0000/]|\[[!^]?\]?(?:[^\u0000\\\]]|\\[^\u0000])*\])"#
    let classes = "alnum|alpha|blank|cntrl|digit|graph|lower|print|punct|space|upper|xdigit"
    let unknownClass = #".*\[\[:(?!(?:\#(classes)):\])[^\]]*:\]"#
    return #"(?!#)(?!!?/? *$)(?!\#(unknownClass))!?/?\#(letter)+(?:/\#(letter)+)*/?"#
  }()
}
