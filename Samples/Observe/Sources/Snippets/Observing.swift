// The Swift blocks of the README and of the DocC catalogues. `check-snippets` compares them; here they are
// compiled.

import FileObservation

func observeWithEvents() async throws {
  let observer = try FileObserver(paths: ["Sources"])
  for try await event in observer.events {
    switch event {
    case .ready(let readiness): print("\(readiness.watches) directories are watched")
    case .changed(let batch): for change in batch.changes { print(change.kind, change.path) }
    case .warning(let warning): print(warning)
    }
  }
}

func observeWithBatches(_ observer: FileObserver) async throws {
  for try await batch in observer.batches(onWarning: { print($0) }) {
    for change in batch.changes { print(change.path) }
  }
}

func observeWithHandler(_ observer: FileObserver) throws {
  try observer.start { event in
    if case .changed(let batch) = event { print(batch.changes.count, "changes") }
  } onFailure: { error in
    print(error)
  }
}

func observeByWaiting(_ observer: FileObserver) throws {
  while let batch = try observer.waitForChange() {
    print(batch.changes)
  }
}

func observeWithOptions() throws -> FileObserver {
  var options = ObserverOptions()
  options.filter = PathFilter(base: "/project", extensions: ["swift"])
  options.quietPeriod = .fixed(.milliseconds(50))
  options.kinds = [.created, .modified, .removed, .renamed, .metadata]
  options.skipsUnchanged = true
  let filtered = try FileObserver(paths: ["/project"], options: options)
  return filtered
}

func observeEverything() throws -> FileObserver {
  let everything = ObserverOptions(filter: PathFilter(sources: []))
  return try FileObserver(paths: ["/project"], options: everything)
}

func observeAll() throws -> FileObserver {
  var options = ObserverOptions(filter: PathFilter(sources: []))
  options.kinds = Set(ChangeBatch.Kind.allCases)
  let observer = try FileObserver(paths: ["/project"], options: options)
  return observer
}

func usePaths() {
  let roots = ["Sources", "Tests"].map(Path.init)
  let manifest = roots[0] / "Package.swift"
  print(manifest.withCString { $0[0] }, manifest.string ?? "not UTF-8")
}

func control(_ observer: FileObserver) throws {
  try observer.add(WatchedPath("Plugins", mayBeMissing: true))
  print(observer.watchedPaths)
  observer.remove("Plugins")
  observer.pause()
  observer.resume()
  print(observer.statistics)
}

func makeBatch() -> ChangeBatch {
  let batch = ChangeBatch(
    number: 1,
    changes: [
      .init(path: "/p/new", kind: .renamed, type: .file, from: "/p/old"),
      .init(path: "/p/gone", kind: .removed, type: .unknown),
    ])
  return batch
}

func makeImmediateOptions() -> ObserverOptions {
  var options = ObserverOptions()
  options.quietPeriod = .fixed(.zero)
  return options
}

/// What the articles mention without a block.
func configureTheRest() -> ObserverOptions {
  ObserverOptions(
    quietPeriod: .adaptive, maximumWait: .seconds(1), followsLinks: true,
    polling: Polling(.always, interval: .seconds(1) ... .seconds(5)),
    contentLimits: ContentLimits())
}

func describe(_ warning: ObserverWarning) -> String {
  let isLimit = warning.code == .watchLimitReached || warning.code == .instanceLimitReached
  return "\(warning.message) \(isLimit ? warning.advice ?? "" : "") \(warning.path?.string ?? "")"
}

func describe(_ error: ObserverError) -> String {
  error.code == .pathUnavailable ? error.path?.name ?? "" : error.message
}
