import Support
import SystemCalls

// Scans and polls, in slices.

extension TreeBackend {
  /// The largest number of polls for one flush: the entries of a directory that replaced another are only compared in
  /// the next poll.
  private static let maximumPolls = 4

  /// Makes the next slice of the first scan, or of the comparison that follows it.
  func scan() {
    readHints()
    let state = state
    if state.isStopped { return }
    let readiness = scanSlice(of: state)
    deliver()
    if let readiness { configuration.report(.ready(readiness)) }
    if case .watching = state.phase {
      readHints()
      csystem_return_free_memory()
    } else {
      configuration.queue.async { [weak self] in self?.scan() }
    }
  }

  /// Returns the readiness, once.
  private func scanSlice(of state: State) -> FileObserver.Readiness? {
    let source = state.tree.source
    let isSliceOver = endOfSlice()
    switch state.phase {
    case .scanning:
      if state.tree.scanPending(until: isSliceOver) || state.tree.refilter(until: isSliceOver) {
        return nil
      }
      state.phase = .catchingUp(state.tree.directories.entries, until: .latest())
      // Otherwise files need watches of their own, which the comparison adds.
      guard let source, source.namesEntries else { return nil }
      return state.tree.takeReadiness(backend: source.name)
    case .catchingUp(var directories, let watched):
      while let directory = directories.popLast() {
        state.tree.scanNow(
          directory, for: .diff(since: configuration.start, .firstTime(until: watched)))
        if isSliceOver() { break }
      }
      state.phase = directories.isEmpty ? .watching : .catchingUp(directories, until: watched)
      state.tree.walk.isComparedOnce = directories.isEmpty
      guard directories.isEmpty, source?.namesEntries != true else { return nil }
      return state.tree.takeReadiness(backend: source?.name ?? "polling")
    case .watching:
      return nil
    }
  }

  func planRefilter() {
    let state = state
    if state.isStopped || state.isRefilterPlanned || !state.tree.rules.isPending { return }
    state.isRefilterPlanned = true
    configuration.queue.async { [weak self] in self?.refilter() }
  }

  /// Applies changed ignore rules to some of the directories.
  private func refilter() {
    let state = state
    state.isRefilterPlanned = false
    if !state.isStopped { _ = state.tree.refilter(until: endOfSlice()) }
    readHints()
  }

  /// Returns whether the slice that begins now is over.
  private func endOfSlice() -> () -> Bool {
    let end = scheduler.now.advanced(by: sliceDuration)
    return { [scheduler] in scheduler.now >= end }
  }

  /// Makes the next slice of a poll.
  func poll() {
    guard let flushes = pollSlice(of: state) else {
      // Which delivers as well, and plans what the hints that were read above need.
      readHints()
      configuration.queue.async { [weak self] in self?.poll() }
      return
    }
    deliver()
    for flush in flushes { flush.call() }
    readHints()
  }

  /// Returns the flushes that are complete if the poll is over.
  private func pollSlice(of state: State) -> [Flush]? {
    if state.isStopped { return [] }
    let before = processorTimeOfThread()
    if state.poll == nil {
      // What they tell is not found by the poll. A failure is met again by the next read.
      try? state.tree.readHints()
    }
    var poll =
      state.poll
      ?? Poll(
        remaining: state.tree.directoriesToPoll[...], flushes: exchange(&state.flushes, with: []),
        began: state.tree.disk.now)
    let isSliceOver = endOfSlice()
    let count = state.tree.unreported.events.count
    while let next = poll.remaining.popFirst() {
      state.tree.poll(next)
      if isSliceOver() { break }
    }
    var isOver = false
    if poll.remaining.isEmpty {
      state.tree.pollMissingRoots()
      state.tree.refreshLinks()
      state.tree.refreshRules()
      if state.tree.source == nil { state.tree.walk.comparedUntil = poll.began }
      isOver = !state.tree.refilter(until: isSliceOver)
    }
    poll.processorTime += processorTimeOfThread() - before
    poll.hasFound = poll.hasFound || state.tree.unreported.events.count > count
    state.poll = isOver ? nil : poll
    guard isOver else { return nil }
    state.pollPacing.ended(foundSomething: poll.hasFound, took: poll.processorTime)
    // Findings may be withheld, or a rescan be due, because of hints that were read meanwhile.
    if !poll.hasFound && state.isUpToDate { return poll.flushes }
    let flushes = poll.flushes.map { (polls: $0.polls + 1, call: $0.call) }
    state.flushes = flushes.filter { $0.polls < Self.maximumPolls } + state.flushes
    return flushes.filter { $0.polls >= Self.maximumPolls }
  }
}
