import FileObservation
import TestSupport
import Testing

@testable import ActionRunning

/// Random sessions, the same ones each time, of commands that write files and of people who edit them.
struct ChangeJudgeModelTests {
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
  func `no edit is dropped, each is followed by a run in time, and everything comes to rest`(
    user: ModelUser, isLive: Bool
  ) {
    let all = sessions(user, isLive: isLive)
    let complaints = all.compactMap { session in
      session.model.complaints.first.map { "\(session): \($0)" }
    }
    #expect(complaints.isEmpty)
    // A run that changes one of many paths in turn, beside which nothing is known, restarts once a second at
    // most: each of the paths looks like one that a person saves.
    let restful = all.filter { !isLive || $0.command != .writesOneOfEight }
    let counts = restful.map { session in
      let end = session.endOfEdits
      // Keys repeat the changes.
      let takesTurns =
        user == .pressesKeys && (isLive || session.command == .writesOneOfEight)
      let early = takesTurns ? 0 : session.mostRuns(within: 60, from: end)
      let pause = takesTurns ? 600 : 90
      let late = session.mostRuns(within: 30, from: end + pause * ChangeJudgeModel.second)
      let inTenMinutes = takesTurns ? 0 : session.mostRuns(within: 600, from: end)
      let text = "\(session): \(early), \(late), \(inTenMinutes)"
      // What changes in turn at two times after the starts becomes rare more slowly.
      if isLive && session.command == .links { return (text: text, isBusy: inTenMinutes > 120) }
      // The first run may be the one for the last edit.
      let most = isLive || session.command == .writesOneOfEight ? 30 : 21
      return (text: text, isBusy: early > most || late > 8 || inTenMinutes > 60)
    }
    #expect(counts.filter(\.isBusy).map(\.text).isEmpty)
  }
}
