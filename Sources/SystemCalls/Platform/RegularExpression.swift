/// A POSIX extended regular expression over bytes, as the C library reads it.
///
/// Swift's own regular expressions would add 1.3 MB to the program.
package final class RegularExpression: Hashable, @unchecked Sendable {
  /// Why a text is no regular expression, in the words of the C library.
  package struct Flaw: Error, Hashable {
    package let reason: String
  }

  package let source: [UInt8]
  // Never written after `init`; `regexec` may be called by several threads at once.
  private let compiled: UnsafeMutablePointer<regex_t>

  package init(_ source: [UInt8]) throws(Flaw) {
    let compiled = UnsafeMutablePointer<regex_t>.allocate(capacity: 1)
    compiled.initialize(to: regex_t())
    let code = Path(bytes: source).withCString { regcomp(compiled, $0, REG_EXTENDED) }
    if code == 0 {
      (self.source, self.compiled) = (source, compiled)
      return
    }
    var reason = [CChar](repeating: 0, count: 200)
    regerror(code, compiled, &reason, reason.count)
    compiled.deallocate()
    throw Flaw(reason: Path(cString: reason).description)
  }

  deinit {
    regfree(compiled)
    compiled.deallocate()
  }

  /// How many groups it has in parentheses.
  package var groupCount: Int { Int(compiled.pointee.re_nsub) }

  /// The text and its groups, if the expression matches all of it. A group that takes no part is empty.
  ///
  /// - Parameter text: Bytes other than NUL.
  package func groups(in text: [UInt8]) -> [ArraySlice<UInt8>]? {
    var matches = [regmatch_t](repeating: regmatch_t(), count: groupCount + 1)
    let code = Path(bytes: text).withCString {
      regexec(compiled, $0, matches.count, &matches, 0)
    }
    // Of all matches, the first and longest one is found.
    guard code == 0, matches[0].rm_so == 0, Int(matches[0].rm_eo) == text.count else { return nil }
    return matches.map { match in
      match.rm_so < 0 ? [] : text[Int(match.rm_so)..<Int(match.rm_eo)]
    }
  }

  package static func == (left: RegularExpression, right: RegularExpression) -> Bool {
    left.source == right.source
  }

  package func hash(into hasher: inout Hasher) { source.hash(into: &hasher) }
}
