import Foundation
import TestSupport
import Testing

@testable import Support

/// Comparisons of our JSON5 parser with Foundation's, in corpora and in seeded random texts.
///
/// `WATCHRUN_SEED=7 swift test --filter JSONAgreement` tries other texts than CI.
struct JSONAgreementTests {
  // MARK: - Corpus

  private static let accepted = [
    "{}", "[]", "null", "true", "[true,false,null]", " [ ] ", "\u{FEFF}{}",
    // Comments.
    "// a\n1", "1 // a", "/* a */1/**/", "/* * / ** */[/*,*/1/*]*/]", "// a\r1", "/*\n*/1//",
    // Commas.
    "[1,]", "[1,2 , ]", "{a:1,}", "{a:1 , b:2 , }", "[[],]", "[{},]",
    // White space.
    "\t\u{B}\u{C}\r\n 1",
    // Keys.
    "{a:1}", "{$:1,_:2,a1:3,$_9:4}", "{é:1}", "{ünïcödé:1}", "{日本:1}", "{ⅷ:1}", "{a\u{301}:1}",
    "{a\u{200C}b:1}", "{null:1,true:2,Infinity:3}", "{'a b':1,\"\":2}", "{'\\u0061':1}", "{𝒳:1}",
    "{a٣:1}", "{a‿b:1}",
    // Strings.
    "''", "\"\"", "'\"'", "\"'\"", #"'\''"#, #""\"""#, #"'\b\f\n\r\t\/\\'"#, #"'\x41\xe9'"#,
    #"'\u00e9\u00E9'"#, #"'\ud83d\ude00'"#, "'😀é'", "'\u{2028}\u{2029}'", "'\u{7F}\u{80}'",
    "'\u{FEFF}'", "'// /* '", "'é'", "'e\u{301}'", #"'\uFFFF\ufffe'"#,
    // Nesting.
    String(repeating: "[", count: 64) + String(repeating: "]", count: 64),
  ]

  /// Numbers are compared within an array: Foundation reads past the end of a text that ends with
  /// one.
  private static let numbers = [
    "0", "-0", "+0", "1", "-1", "+1", "1.5", ".5", "-.5", "+.5", "5.", "-5.", "0.", "0.0", "1e3",
    "1E3", "1e+3", "1e-3", "1.5e3", "1.e3", ".5e3", "0e0", "0x0", "0xF", "0XfF", "-0x1F", "+0x1f",
    "5.,.5", "123456789012345678901234567890", "0.1", "1e308", "1.7976931348623157e308",
    "2.2250738585072011e-308", "5e-324", "9007199254740993", "0x1FFFFFFFFFFFFF", "Infinity",
    "-Infinity", "+Infinity", "NaN", "-NaN", "{a:-1,b:+1,c:.1,d:1.}",
  ].map { "[\($0)]" }

  private static let refused: [String] = [
    "", " ", "//", "{", "[", "]", "}", "{]", "[}", "[1", "[1 2]", "[,]", "[1,,]", "{,}", "{a}",
    "{a:}",
    "{a:1", "{a:1 b:2}", "{a:1,,}", "{:1}", "{a-b:1}", "{1:1}", "{'a:1}", "1 2",
    "{} {}", "/* a", "/", "/ /", "tru", "nul", "True", "undefined", "make", "'a", "\"a", "'a\nb'",
    "'a\tb'", "'a\u{1}b'", #"'\q'"#, #"'\1'"#, #"'\08'"#, #"'\u12'"#, #"'\u12g4'"#, #"'\x4'"#,
    #"'\xg0'"#,
    #"'\ud83d'"#, #"'\ude00'"#, #"'\ud83dx'"#, #"'\ud83d\u0041'"#, "'\u{0}'", "{\\n:1}",
  ]

  private static let refusedNumbers = [
    "01", "-01", "1.2.3", "--1", "+-1", "1e", "1e5.", ".", "-", "+", ".e1", "10s", "1_000", "0x",
    "0x1g",
    "0x1.8", "0x1p3", "Infinit", "Infinity1", "1e999", "-1e999", "infinity", "nan", "1 2", "- 1",
    "1e 5",
  ].map { "[\($0)]" }

  /// Texts on which the two differ, with our result; `nil` if we refuse the text.
  private static let exceptions: [(text: String, ours: Plain?, reason: String)] = [
    ("'a\\\nb'", .string("ab"), "a line continuation adds nothing; Foundation adds the line break"),
    (
      "'a\\\r\nb'", .string("ab"),
      "a line continuation adds nothing; Foundation adds the line break"
    ),
    ("'a\\\u{2028}b'", .string("ab"), "U+2028 ends a line; Foundation refuses the escape"),
    (#"'\v'"#, .string("\u{B}"), "JSON5 has the escape; Foundation does not"),
    (#"'\0'"#, .string("\0"), "JSON5 has the escape; Foundation does not"),
    (#"'\u0000'"#, .string("\0"), "a NUL is a character; Foundation refuses it"),
    (#"'\x00'"#, .string("\0"), "a NUL is a character; Foundation refuses it"),
    (#"{\u0061b:1}"#, nil, "a key with an escape must be quoted; Foundation keeps the escape"),
    ("{→:1}", .object(["→": .number(1)]), "a key may have symbols; Foundation wants letters"),
    ("\u{A0}1", .number(1), "white space in JSON5; Foundation refuses it"),
    ("[1\u{2003},\u{2028}2\u{FEFF}]", .array([.number(1), .number(2)]), "white space in JSON5"),
    ("// a\u{2028}1", .number(1), "U+2028 ends a comment; Foundation does not find the value"),
    (
      "[0x20000000000001]", .array([.number(0x1p53)]),
      "a hexadecimal number is rounded; Foundation refuses one that is not exact"
    ),
    (
      "{é:1,'e\u{301}':2}", .object(["é": .number(1), "e\u{301}": .number(2)]),
      "keys are compared later, where a repetition is reported; Foundation drops one of equal keys"
    ),
    ("[1e-999]", .array([.number(0)]), "a number is rounded; Foundation refuses an underflow"),
    (
      String(repeating: "[", count: 65) + String(repeating: "]", count: 65), nil,
      "we limit nesting to 64, Foundation to 512"
    ),
  ]

  @Test(arguments: accepted + numbers)
  func `a text that Foundation accepts has the same value`(text: String) throws {
    let ours = try Plain(ofOurs: text.utf8)
    #expect(ours == Plain(ofFoundation: text.utf8))
  }

  @Test(arguments: refused + refusedNumbers)
  func `a text that Foundation refuses is refused`(text: String) {
    let error = #expect(throws: JSONSyntaxError.self) { try Plain(ofOurs: text.utf8) }
    #expect((0...text.utf8.count).contains(error?.offset ?? -1))
    #expect(Plain(ofFoundation: text.utf8) == nil)
  }

  @Test(arguments: exceptions)
  func `a difference from Foundation is deliberate`(text: String, ours: Plain?, reason: String) {
    #expect((try? Plain(ofOurs: text.utf8)) == ours, "\(reason)")
    #expect(Plain(ofFoundation: text.utf8) != ours, "no longer an exception: \(reason)")
  }

  // MARK: - Random texts

  private static let seeds: Range<UInt64> = {
    let first = ProcessInfo.processInfo.environment["WATCHRUN_SEED"].flatMap { UInt64($0) } ?? 0
    return (first &* 20)..<(first &* 20 + 20)
  }()

  @Test(arguments: seeds)
  func `a random value in a random spelling is read like Foundation reads it`(seed: UInt64) throws {
    var random = JSONSpelling(seed: seed)
    for _ in 0..<Effort.count(200, quick: 50) {
      let (value, text) = random.document()
      #expect(try Plain(ofOurs: text.utf8) == value, "\(text.debugDescription)")
      #expect(Plain(ofFoundation: text.utf8) == value, "\(text.debugDescription)")
    }
  }

  @Test(arguments: seeds)
  func `a mutated text is read like Foundation reads it, or refused with a position`(
    seed: UInt64
  ) throws {
    var random = JSONSpelling(seed: seed)
    var (accepted, refused) = (0, 0)
    for _ in 0..<Effort.count(500, quick: 100) {
      let text = random.mutated(Array(random.document().text.utf8))
      do throws(JSONSyntaxError) {
        let ours = try Plain(ofOurs: text)
        accepted += 1
        // Foundation reads past the end of a number that is the whole text.
        if case .bits = ours { continue }
        if Self.isException(text) || ours.hasEqualKeys { continue }
        #expect(
          ours == Plain(ofFoundation: text),
          "\(String(decoding: text, as: UTF8.self).debugDescription)")
      } catch {
        refused += 1
        #expect((0...text.count).contains(error.offset))
        #expect(!error.message.isEmpty)
        if Self.mayTrapFoundation(text) || Self.isException(text) { continue }
        #expect(
          Plain(ofFoundation: text) == nil,
          "\(String(decoding: text, as: UTF8.self).debugDescription): \(error.message)")
      }
    }
    #expect(min(accepted, refused) > Effort.count(20, quick: 4))
  }

  /// Whether a text contains something from ``exceptions``, the byte 0xA0, which Foundation takes
  /// for white space even where it is not UTF-8, or a NUL near the start, by which we recognise
  /// UTF-16, or a character that is no letter in a key.
  private static func isException(_ text: [UInt8]) -> Bool {
    let parts = [
      "\\\n", "\\\r", #"\v"#, #"\0"#, #"\u0000"#, #"\x00"#, "\u{2028}", "\u{2029}", "\u{FEFF}",
      "e-",
      "E-", "0x", "0X",
    ]
    return text.contains(0xA0) || text.prefix(4).contains(0)
      || parts.contains { contains(text, Array($0.utf8)) } || hasEscapeOutsideStrings(text)
      || String(decoding: text, as: UTF8.self).unicodeScalars.contains {
        !$0.isASCII && !$0.properties.isIDContinue
      }
  }

  private static func contains(_ text: [UInt8], _ part: [UInt8]) -> Bool {
    text.indices.contains { text[$0...].starts(with: part) }
  }

  /// Whether a backslash occurs outside strings and comments, as in a key without quotation marks.
  private static func hasEscapeOutsideStrings(_ text: [UInt8]) -> Bool {
    (try? JSONValue(parsing: text.map { $0 == UInt8(ascii: "\\") ? UInt8(ascii: "^") : $0 })) == nil
      && contains(text, [UInt8(ascii: "\\")])
  }

  /// Whether Foundation could stop the program with a failed precondition: on invalid UTF-8 in a
  /// key, and on an exponent or a hexadecimal prefix without digits.
  private static func mayTrapFoundation(_ text: [UInt8]) -> Bool {
    if String(validating: text, as: UTF8.self) == nil { return true }
    return text.indices.contains { index in
      let rest = text[index...].drop {
        $0 | 0x20 == UInt8(ascii: "e") || $0 | 0x20 == UInt8(ascii: "x")
      }
      guard rest.count < text[index...].count else { return false }
      let digits = rest.drop { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }
      return digits.first?.isDigitASCII != true
    }
  }
}
