import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// Random operations on a disk in memory, between any two calls of the observer.
///
/// `WATCHRUN_SEEDS=20000 swift test --filter ObservationModel` tries more seeds than those of CI, and
/// `WATCHRUN_SETTING=awaited` only settings whose names contain that.
struct ObservationModelTests {
  private static let seeds =
    environmentVariable("WATCHRUN_SEEDS").flatMap { UInt64($0) }
    ?? UInt64(Effort.count(60, quick: 4))

  private static let settings = ObservationModel.Setting.all.filter { setting in
    environmentVariable("WATCHRUN_SETTING").map { setting.name.contains($0) } ?? true
  }

  @Test(arguments: settings)
  func `a consumer of the net changes knows the tree`(setting: ObservationModel.Setting) throws {
    for seed in Array(1...Self.seeds) + setting.furtherSeeds {
      guard let faults = try ObservationModel.faults(setting, seed: seed, isLogged: false) else {
        continue
      }
      // Once more, with a log.
      let log = try ObservationModel.faults(setting, seed: seed, isLogged: true)?.log ?? ""
      Issue.record("seed \(seed): \(faults.text)\n\(log)")
      return
    }
  }
}

extension ObservationModel.Setting: CustomTestStringConvertible {
  var testDescription: String { name }
}
