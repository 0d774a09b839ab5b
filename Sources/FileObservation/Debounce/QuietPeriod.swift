/// How long nothing must change before a burst ends and its batch is delivered.
public enum QuietPeriod: Sendable, Hashable {
  /// Twice the longest gap in the burst within these bounds; the upper bound while a file of the
  /// burst has been written to and not closed, or was renamed and nothing has its former path: a
  /// save may have made a backup.
  ///
  /// A change at most the upper bound after the last one of a burst that has ended belongs to the
  /// same stream, and the gaps before it count, too. A pause of more than twice the upper bound ends
  /// the stream.
  ///
  /// A file that was written again at most the sum of the bounds later, twice in a row, is waited for
  /// the next time: twice that pause, and at most the sum of the bounds. So are further changes in a
  /// directory after a new name or several changes in it. Waits in vain end that soon.
  case growing(ClosedRange<Duration>)
  /// A fixed time; zero delivers each change at once.
  case fixed(Duration)

  /// Twice the longest gap in the stream of changes, from 10 to 100 ms; 100 ms while a file of the
  /// burst has been written to and not closed, or was renamed and nothing has its former path.
  public static let adaptive = Self.growing(.milliseconds(10) ... .milliseconds(100))
}
