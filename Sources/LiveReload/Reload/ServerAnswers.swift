/// Decides whether a document shows old code of a server that is not seen to start again after a save: one in a
/// container, or one that reads its files again, but not at once. A state machine.
///
/// A page reloads right after a save, and may do so before its server has noticed it. So the request of
/// the first document after the reload is made again a few times. If the answer has changed, the page
/// reloads once more: at most once for each document.
///
/// An answer that differs must come twice, or after the server was gone: of two servers, either may
/// answer. If all answers differ, only the words without digits are compared, because pages contain tokens
/// and times. If they differ as well from the beginning, the page differs by itself.
struct ServerAnswers: Sendable {
  enum Action: Hashable, Sendable {
    /// Make the request again after a pause, and call `answered`.
    case ask(afterMilliseconds: Int)
    case reload
  }

  private enum State: Sendable {
    /// The page shows what the server answers, as far as that can be known.
    case settled
    /// The page reloads; documents of this revision are those after the reload.
    case reloading(revision: Int)
    /// The last answer was the document.
    case unchanged(BodyFingerprint)
    /// The last answer was not the document; `nil` if there was none.
    case changed(BodyFingerprint, to: BodyFingerprint?)
  }

  /// The pauses before the requests, in milliseconds.
  private static let pauses = [500, 500, 1_000, 2_000]
  /// The pause after an answer that is not the document.
  private static let pauseOfDoubt = 500
  /// The number of answers that show whether the page differs by itself.
  private static let firstAnswers = 2

  private var state = State.settled
  private var answerCount = 0
  private var ignoresNumbers = false

  /// Whether a document of a revision is the first one after a reload.
  func awaitsDocument(of revision: Int) -> Bool {
    if case .reloading(let awaited) = state { revision >= awaited } else { false }
  }

  /// The page reloads, so that documents of this revision should show the last save.
  mutating func reloads(revision: Int) {
    state = .reloading(revision: revision)
  }

  /// The awaited document was delivered.
  mutating func delivered(_ document: BodyFingerprint) -> Action? {
    (state, answerCount, ignoresNumbers) = (.unchanged(document), 0, false)
    return ask()
  }

  /// The request was answered again.
  ///
  /// - Parameter answer: `nil` if the server cannot be reached.
  mutating func answered(_ answer: BodyFingerprint?) -> Action? {
    answerCount += 1
    return judge(answer)
  }

  /// Ends the comparison.
  mutating func settle() {
    state = .settled
  }

  private mutating func judge(_ answer: BodyFingerprint?) -> Action? {
    switch state {
    case .settled, .reloading:
      return nil
    case .unchanged(let document):
      state = isSame(document, answer) ? state : .changed(document, to: answer)
    case .changed(let document, let former):
      if isSame(document, answer) {
        state = .unchanged(document)
      } else if answer == nil {
        state = .changed(document, to: nil)
      } else if former == nil || isSame(former, answer) {
        return reload()
      } else if !ignoresNumbers {
        ignoresNumbers = true
        if isSame(document, former) { state = .unchanged(document) }
        return judge(answer)
      } else if answerCount > Self.firstAnswers {
        return reload()
      } else {
        settle()
      }
    }
    return ask()
  }

  private func isSame(_ first: BodyFingerprint?, _ second: BodyFingerprint?) -> Bool {
    ignoresNumbers ? first?.withoutNumbers == second?.withoutNumbers : first == second
  }

  private mutating func reload() -> Action {
    settle()
    return .reload
  }

  private mutating func ask() -> Action? {
    switch state {
    case .unchanged where answerCount < Self.pauses.count:
      return .ask(afterMilliseconds: Self.pauses[answerCount])
    case .changed where answerCount <= Self.pauses.count:
      return .ask(afterMilliseconds: Self.pauseOfDoubt)
    default:
      settle()
      return nil
    }
  }
}
