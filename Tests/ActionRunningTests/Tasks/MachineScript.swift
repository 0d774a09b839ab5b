import FileObservation

@testable import ActionRunning

/// Inputs of the machine, and its actions in a short notation.
struct MachineScript {
  var machine: TaskStateMachine
  /// The latest generation of the check, or of the pause, of each task.
  private(set) var generations: [String: Int] = [:]

  init(_ rules: [TaskStateMachine.Rules], jobs: Int = 9) {
    machine = TaskStateMachine(rules, jobs: jobs)
  }

  /// Performs the step, and returns the machine's actions: `+a` to start, `&a` to start again after its
  /// end, `~a` to stop, `a!` to signal, `a?b` to skip because of b, `a=b` to keep, `?a` to judge changes
  /// before a, `a^` to examine (`a^^` if it cannot be fresh), `a#` fresh, `a…` to await, `a*` ready, `a-` late, `a%` to back off, `a|` to keep the former
  /// process, `.` for a round's end.
  mutating func callAsFunction(
    _ step: (inout TaskStateMachine) -> [TaskStateMachine.Action]
  ) -> [String] {
    step(&machine).compactMap { action in
      switch action {
      case .start(let name, .restart, _): return "&" + name
      case .start(let name, _, _): return "+" + name
      case .stop(let name): return "~" + name
      case .signal(let name, _, _): return name + "!"
      case .skip(let name, let because): return name + "?" + because
      case .keep(let name, let because): return name + "=" + because
      case .examine(let name, let mayBeFresh): return name + (mayBeFresh ? "^" : "^^")
      case .reportFresh(let name): return name + "#"
      case .judgeChanges(let name): return "?" + name
      case .awaitReadiness(let name, let generation):
        generations[name] = generation
        return name + "…"
      case .keepFormer(let name): return name + "|"
      case .giveUpReadiness: return nil
      case .reportReady(let name): return name + "*"
      case .reportLate(let name): return name + "-"
      case .backOff(let name, let generation):
        generations[name] = generation
        return name + "%"
      case .endRound: return "."
      case .end(let name): return "end " + name
      case .retire(let name): return "retire " + name
      case .killAll: return "kill"
      case .finish: return "finish"
      case .reportRejection(let input, let name): return "\(name): \(input)"
      }
    }
  }

  mutating func change(_ names: String...) -> [String] {
    self { $0.changed(Set(names)) }
  }

  /// What this task watches changes in a burst, or while starts are delayed.
  mutating func hold(_ name: String) -> [String] {
    machine.heldTasks = Set(machine.order)
    return self { $0.changedWhileHeld([name]) }
  }

  mutating func release() -> [String] {
    machine.heldTasks = []
    return self { $0.proceed([]) }
  }

  mutating func end(_ name: String, _ result: TaskStateMachine.Result = .succeeded) -> [String] {
    self { $0.ended(name, result) }
  }

  mutating func examine(_ name: String, isFresh: Bool) -> [String] {
    self { $0.examined(name, isFresh: isFresh) }
  }

  mutating func judge(_ names: String...) -> [String] {
    self { $0.changesAreJudged(Set(names)) }
  }

  mutating func isReady(_ name: String, after generation: Int? = nil) -> [String] {
    let generation = generation ?? generations[name] ?? 0
    return self { $0.serviceIsReady(name, generation: generation) }
  }

  mutating func isLate(_ name: String) -> [String] {
    let generation = generations[name] ?? 0
    return self { $0.serviceIsLate(name, generation: generation) }
  }

  mutating func backOffIsOver(_ name: String) -> [String] {
    let generation = generations[name] ?? 0
    return self { $0.backOffIsOver(name, generation: generation) }
  }

  mutating func restartIsGivenUp(_ name: String) -> [String] {
    let generation = generations[name] ?? 0
    return self { $0.backOffIsOver(name, generation: generation, isGivenUp: true) }
  }

  func state(_ name: String) -> TaskStateMachine.State? { machine.state(of: name) }
}

func rules(
  _ name: String, after: String..., policy: BusyPolicy? = nil, service: Bool = false,
  ready: Bool? = nil, alive: Bool? = nil, postponed: Bool = false, watches: Bool = false
) -> TaskStateMachine.Rules {
  var rules = TaskStateMachine.Rules(name, dependencies: after)
  (rules.policy, rules.isService, rules.isPostponed) = (policy, service, postponed)
  rules.watches = watches
  (rules.keepsAlive, rules.hasReadiness) = (alive ?? service, ready ?? service)
  return rules
}
