import Synchronization

/// A variable in the environment of a run, by which its processes are recognised when their parents have
/// ended. No two runs on a machine have the same. A run is known as long as its mark exists.
package final class RunMark: Sendable {
  /// Which runs of this process are known.
  struct Known {
    /// The number of the latest run.
    var latest: UInt64 = 0
    var numbers: [UInt64] = []
  }

  private static let name = "WATCHRUN_RUN="
  /// Whether this process belongs to a run itself.
  package static let isInherited = processEnvironment().contains { $0.starts(with: name.utf8) }

  private static let state = Mutex(Known())
  private static let guardianCount = Atomic(0)

  static var known: Known { state.withLock { $0 } }

  /// The part that all runs of this process have in common.
  package static let common =
    "\(name)\(getpid())-\(String(FileTime.latest().nanoseconds, radix: 36))-"

  /// The variable, as `NAME=value`.
  package let variable: String

  let number: UInt64

  /// Creates the mark of another run.
  ///
  /// - Parameter guardian: The guardian that stops it; `nil` if none does.
  package init(guardedBy guardian: GuardianProcess?) {
    number = Self.state.withLock { known in
      known.latest += 1
      known.numbers.append(known.latest)
      return known.latest
    }
    variable = (guardian?.mark ?? Self.common) + String(number)
  }

  deinit {
    Self.state.withLock { [number] in $0.numbers.removeAll { $0 == number } }
  }

  /// The part that the runs of another guardian have in common.
  static func makeCommonPart() -> String {
    "\(common)\(guardianCount.add(1, ordering: .relaxed).newValue)-"
  }

  /// Adds the mark to an environment, instead of one that this process may have itself.
  package func mark(_ environment: inout [[UInt8]]) {
    environment.removeAll { $0.starts(with: Self.name.utf8) }
    environment.append(Array(variable.utf8))
  }
}
