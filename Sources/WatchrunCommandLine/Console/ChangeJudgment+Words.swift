import ActionRunning

extension ChangeJudgment.Reason {
  /// The decision about a change during a run, and its evidence.
  var words: String {
    switch self {
    case .unchanged: "no run: it holds what it held when the run began"
    case .output: "no run: an output of the run"
    case .innocent: "a run: saved, no process of the run has written since"
    case .moved: "a run: saved, the run does not write it at this time"
    case .open: "a delayed run: the run has it open for writing"
    case .repeated: "a run: the runs change it again and again"
    case .unknown: "a run: changed during the run"
    }
  }
}
