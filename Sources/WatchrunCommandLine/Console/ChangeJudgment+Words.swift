import ActionRunning

extension ChangeExplanation {
  /// The decision about a change during a run, and why.
  var words: String {
    switch decision {
    case .run:
      switch writer {
      case .others: "another run: saved, no process of the run has done anything meanwhile"
      case .run: "another run: the run has it open for writing\(count)"
      case .unknown: "another run: it changed during the run\(count)"
      }
    case .unchanged: "nothing: it holds what it held when the run began; r runs it"
    case .waits: "waiting: changed by the run, of which it is an output; r runs it"
    }
  }

  private var count: String {
    repetitions > 1 ? " (count \(repetitions))" : ""
  }
}
