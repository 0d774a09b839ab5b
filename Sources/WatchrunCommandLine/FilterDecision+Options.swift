import PathFiltering
import SystemCalls

// Rules as the command line shows them: with its options in place of the filter's parameters.

extension FilterDecision.Source {
  /// The source, with the name of an option for a parameter.
  var bytesWithOption: [UInt8] {
    switch self {
    case .parameter(.ignore): Array("--ignore".utf8)
    case .parameter(.filter): Array("--filter".utf8)
    case .parameter(.extensions): Array("--exts".utf8)
    case .builtIn, .file: bytes
    }
  }
}

extension FilterDecision.Rule {
  /// `source:line:pattern` for people.
  var text: String {
    Path(bytes: source.bytesWithOption + Array(":\(line):".utf8) + pattern).description
  }
}
