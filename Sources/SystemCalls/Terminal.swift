/// What can be asked of a terminal.
package enum Terminal {
  /// True if the descriptor is a terminal.
  package static func isTerminal(_ descriptor: Int32) -> Bool {
    isatty(descriptor) == 1
  }
}
