import SystemCalls

/// Decides whether a page shows what its server answered before a save: whether the server has started
/// again since, or reads what it answers with again. A state machine; times are milliseconds on any clock.
///
/// A page reloads right after a save, and may do so before its server has noticed it. There are two
/// kinds of evidence that the server answers otherwise now, and either reloads the page once more:
///
/// - The document. The request of the first one after a reload is made again a few times. An answer that
///   differs must come twice, or after the server was gone: of two servers, either may answer. If all
///   answers differ, only the words without digits are compared, because pages contain tokens and times. If
///   they differ as well from the beginning, the page differs by itself.
/// - Another process serves, as far as processes can be seen. The document may be the same then, and what
///   its scripts request not. Only a save can be the reason, so that a server whose processes end at each
///   request does not reload the page for ever.
///
/// So that the page does not reload twice, a reload for a file waits if the last change of such a file led
/// to another process. What proves wrong once is not repeated.
struct ServerRestarts: Sendable {
  enum Reaction: Hashable, Sendable {
    /// Request the document of a server again after a pause, and call `answered`.
    case ask(ServerAddress, afterMilliseconds: Int)
    /// Reload now: requests wait until the server answers again.
    case reload
    /// Reload after a pause without further changes of the server, which may have several processes.
    case reloadLater(milliseconds: Int)
  }

  /// The longest time from a save to the restart that it leads to, for which later reloads wait.
  private static let longestWait = 3_000
  private static let pauseOfSeveral = 500
  /// The pauses before the requests, in milliseconds.
  private static let pauses = [500, 500, 1_000, 2_000]
  /// The pause after an answer that is not the document.
  private static let pauseOfDoubt = 500
  /// The number of answers that show whether the page differs by itself.
  private static let firstAnswers = 2

  /// The time from a save to the restart, by the extension of the file.
  private var times: [String: Int] = [:]
  /// When files with these extensions were saved first since the last restart.
  private var saves: [String: Int] = [:]
  /// How often another process has served since the last save; `nil` before the first one.
  private var changes: Int?
  /// The revision of documents after the last reload, if the first one of each server is compared.
  private var awaited: Int?
  private var documents: [ServerAddress: Document] = [:]

  /// The first document of a server after a reload.
  private struct Document {
    /// The document and the answers since, `nil` for none.
    var answers: [BodyFingerprint?]
    var ignoresNumbers = false

    func isSame(_ first: BodyFingerprint?, _ second: BodyFingerprint?) -> Bool {
      ignoresNumbers ? first?.withoutNumbers == second?.withoutNumbers : first == second
    }
  }

  /// Files were saved.
  mutating func saved(_ paths: [Path], at now: Int) {
    if paths.isEmpty { return }
    changes = 0
    for name in Set(paths.map(\.extensionName)) {
      if let time = saves[name], now - time < Self.longestWait { continue }
      saves[name] = now
    }
  }

  // MARK: - Processes

  /// How long a reload for these files waits for a restart.
  func wait(for paths: [Path]) -> Int {
    let time = paths.compactMap { times[$0.extensionName] }.max()
    return time.map { min(2 * $0 + 300, Self.longestWait) } ?? 0
  }

  /// A reload has waited in vain.
  mutating func waitedInVain(for paths: [Path]) {
    for path in paths { times[path.extensionName] = nil }
  }

  /// Another process serves, or is going to.
  mutating func processChanged(at now: Int) -> Reaction? {
    guard let former = changes, former < 2 else { return nil }
    for (name, time) in saves where now - time <= Self.longestWait { times[name] = now - time }
    saves = [:]
    changes = former + 1
    return former == 0 ? .reload : .reloadLater(milliseconds: Self.pauseOfSeveral)
  }

  // MARK: - The document

  /// The page reloads, so that documents of this revision should show the last save.
  ///
  /// - Parameter revision: `nil` to compare nothing until the next reload.
  mutating func awaitDocuments(of revision: Int?) {
    (awaited, documents) = (revision, [:])
  }

  /// Whether a document of a revision is the first one of a server after a reload.
  func awaitsDocument(of revision: Int, from server: ServerAddress) -> Bool {
    guard let awaited else { return false }
    return revision >= awaited && documents[server] == nil
  }

  /// The awaited document was delivered.
  mutating func delivered(_ document: BodyFingerprint, from server: ServerAddress) -> Reaction? {
    if awaited == nil || documents[server] != nil { return nil }
    documents[server] = Document(answers: [document])
    return .ask(server, afterMilliseconds: Self.pauses[0])
  }

  /// The request was answered again.
  ///
  /// - Parameter answer: `nil` if the server cannot be reached.
  mutating func answered(_ answer: BodyFingerprint?, from server: ServerAddress) -> Reaction? {
    guard var page = documents[server], let document = page.answers[0],
      let former = page.answers.last
    else { return nil }
    let count = page.answers.count
    page.answers.append(answer)
    if let former, let answer, Set([document, former, answer]).count == 3 {
      page.ignoresNumbers = true
    }
    documents[server] = page
    if page.isSame(answer, document) {
      return count < Self.pauses.count ? .ask(server, afterMilliseconds: Self.pauses[count]) : nil
    }
    if answer != nil {
      if former == nil || page.isSame(answer, former) { return .reload }
      if !page.isSame(former, document) { return count > Self.firstAnswers ? .reload : nil }
    }
    return count <= Self.pauses.count ? .ask(server, afterMilliseconds: Self.pauseOfDoubt) : nil
  }
}

extension Path {
  /// The extension of the last component in lower case; empty for none.
  var extensionName: String { MediaType.nameEnd(bytes) }
}
