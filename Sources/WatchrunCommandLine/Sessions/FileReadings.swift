import Support
import SystemCalls

/// Decides when the project file, and files with variables, are read again. That starts tasks, which may change the files:
/// so the law of delays holds for a reading as for a start (`Suspicion`).
struct FileReadings {
  /// After so long, a change has not followed the latest reading: tasks that start every ten seconds are few.
  private static let longest = Duration.seconds(10)

  /// By the files: a task that changes one of them says nothing of another one.
  private var suspicions: [Path: Suspicion] = [:]
  private var limit = StartLimit(share: 1)
  private var latest: Instant?
  private(set) var count = 0
  private var waiting: Set<Path> = []

  /// A file has changed. Returns how long it is before the files are read; `nil` if it waits already.
  mutating func changed(_ file: Path, at now: Instant) -> Duration? {
    if !waiting.insert(file).inserted { return nil }
    let limit = limit.delay(of: .unknown, at: now)
    guard let time = latest?.duration(to: now), time < Self.longest else {
      suspicions[file] = nil
      return limit
    }
    suspicions[file, default: Suspicion()].changed(.unknown, at: now, after: time)
    return max(suspicions[file]?.delay(number: count) ?? .zero, limit)
  }

  /// The files that have changed are read.
  mutating func take(at now: Instant) -> Set<Path> {
    if waiting.isEmpty { return [] }
    if let latest {
      for file in suspicions.keys { suspicions[file]?.began(after: latest.duration(to: now)) }
    }
    limit.started(at: now)
    latest = now
    count += 1
    return exchange(&waiting, with: [])
  }
}
