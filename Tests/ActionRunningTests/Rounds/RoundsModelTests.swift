import FileObservation
import TestSupport
import Testing

@testable import ActionRunning

/// Random sessions, the same ones each time, of commands that write files and of people who edit them.
struct RoundsModelTests {
  private static let seeds = 1...UInt64(Effort.count(5, quick: 1))

  private func sessions(_ user: ModelUser, isLive: Bool) -> [ModelSession] {
    ModelCommand.allCases.flatMap { command in
      Self.seeds.map { seed in
        var session = ModelSession(command, user, isLive: isLive, seed: seed)
        session.run()
        return session
      }
    }
  }

  @Test(arguments: ModelUser.allCases, [false, true])
  func `each edit is followed by a run in time, and every command comes to rest`(
    user: ModelUser, isLive: Bool
  ) {
    let sessions = sessions(user, isLive: isLive)
    let complaints = sessions.compactMap { session in
      session.model.complaints.first.map { "\(session): \($0)" }
    }
    #expect(complaints.isEmpty)

    let endless = sessions.filter { session in
      let end = session.endOfEdits
      let lastTenMinutes = end + 6600 * RoundsModel.second
      return session.runs(from: lastTenMinutes, seconds: 600) > 1
        || session.runs(from: end, seconds: 3600) > session.mostRunsInAnHour
    }
    #expect(
      endless.map {
        "\($0): \($0.runs(from: $0.endOfEdits, seconds: 3600)) of \($0.mostRunsInAnHour)"
      }.isEmpty)

    let wasteful = sessions.filter { session in
      let most = session.command.superfluousRuns(
        user, occasions: session.model.occasions, isLive: isLive)
      return session.model.superfluous > most ?? .max
    }
    #expect(wasteful.map { "\($0): \($0.model.superfluous)" }.isEmpty)
  }
}
