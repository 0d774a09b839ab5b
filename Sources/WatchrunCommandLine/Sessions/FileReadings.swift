import Support
import SystemCalls

/// Decides when the project file, and files with variables, are read again. That starts tasks, which may change the files:
/// so the law of delays holds for a reading as for a start (`Suspicion`).
struct FileReadings {
  /// After so long, a change has not followed the latest reading: tasks that start every ten seconds are few.
  private static let longest = Duration.seconds(10)

  private var suspicion = Suspicion()
  private var latest: Instant?
  private var count = 0
  private var waiting: Set<Path> = []

  /// A file has changed. Returns how long it is before the files are read; `nil` if they wait already.
  mutating func changed(_ file: Path, at now: Instant) -> Duration? {
    defer { waiting.insert(file) }
    if !waiting.isEmpty { return nil }
    guard let time = latest?.duration(to: now), time < Self.longest else {
      suspicion.reset()
      return .zero
    }
    suspicion.changed(.unknown, at: now, after: time)
    return suspicion.delay(number: count)
  }

  /// The files that have changed are read.
  mutating func take(at now: Instant) -> Set<Path> {
    if waiting.isEmpty { return [] }
    if let latest { suspicion.began(after: latest.duration(to: now)) }
    latest = now
    count += 1
    return exchange(&waiting, with: [])
  }
}
