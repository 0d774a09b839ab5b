import Testing

@testable import ActionRunning

struct TaskGraphTests {
  private func task(
    _ name: String, after: String..., service: Bool = false,
    ready: TaskDefinition.Readiness.Condition? = nil
  ) -> TaskDefinition {
    TaskDefinition(
      name, Command("true"), dependencies: after, isService: service,
      readiness: ready.map { TaskDefinition.Readiness($0) })
  }

  private func problems(_ tasks: TaskDefinition...) -> [String] {
    TaskGraph.problems(of: tasks).map(\.description)
  }

  @Test func `each task follows its dependencies, otherwise in the order given`() throws {
    let graph = try TaskGraph(
      [task("c", after: "b"), task("x"), task("b", after: "a"), task("a")], jobs: 0)
    #expect(graph.order == ["x", "a", "b", "c"])
    #expect(graph.jobs == 1)
  }

  @Test func `all problems are found at once`() {
    #expect(
      problems(
        task("build"), task("build"), task("test", after: "biuld"), task("a", after: "b"),
        task("b", after: "c"), task("c", after: "a"), task("d", after: "d"),
        task("s", service: true), task("t", after: "s"), task("u", ready: .url("ftp://x"))) == [
          "two tasks have the name 'build'; rename one",
          "task 'test': there is no task 'biuld'; did you mean 'build'?",
          "tasks depend on one another: a → b → c → a; remove one of these dependencies",
          "a task depends on itself: d → d; remove one of these dependencies",
          "'t' depends on the service 's', which does not end; define when it is ready",
          "the readiness URL 'ftp://x' of task 'u' is not supported; "
            + "use one such as http://localhost:8080/health",
        ])
  }

  @Test func `a problem names the tasks involved`() {
    let nodes = [
      TaskGraph.Node("build"), TaskGraph.Node("test", dependencies: ["biuld", "page", "server"]),
      TaskGraph.Node("server", milestone: .undefined), TaskGraph.Node("page", milestone: .none),
      TaskGraph.Node("other", dependencies: ["paeg", "other"]),
    ]
    #expect(
      TaskGraph.problems(of: nodes) == [
        .unknownDependency("biuld", dependent: "test", nearest: "build"),
        .notATask("page", dependent: "test"),
        .unknownDependency("paeg", dependent: "other", nearest: nil), .cycle(["other"]),
        .serviceWithoutReadiness("server", dependent: "test"),
      ])
  }

  @Test func `a cycle is named without the tasks that only lead to it`() {
    #expect(
      problems(task("x", after: "a"), task("a", after: "b"), task("b", after: "a")) == [
        "tasks depend on one another: a → b → a; remove one of these dependencies"
      ])
  }

  @Test func `each cycle is found, and the shortest through a task`() {
    let nodes = [
      TaskGraph.Node("x", dependencies: ["a", "y"]), TaskGraph.Node("y", dependencies: ["z", "x"]),
      TaskGraph.Node("z", dependencies: ["x"]), TaskGraph.Node("a", dependencies: ["b"]),
      TaskGraph.Node("b", dependencies: ["a"]),
    ]
    #expect(
      TaskGraph.problems(of: nodes) == [
        .cycle(["x", "y"]), .cycle(["z", "x", "y"]), .cycle(["a", "b"]),
      ])
  }

  @Test func `long chains and cycles cost no stack`() {
    let count = 5000
    var nodes = (0..<count).map { TaskGraph.Node("\($0)", dependencies: ["\($0 + 1)"]) }
    nodes.append(TaskGraph.Node("\(count)"))
    #expect(TaskGraph.problems(of: nodes).isEmpty)
    nodes[count].dependencies = ["0"]
    #expect(TaskGraph.problems(of: nodes) == [.cycle(nodes.map(\.name))])
  }

  @Test func `two ways to the same task are not a cycle`() throws {
    let graph = try TaskGraph(
      [task("d", after: "b", "c"), task("b", after: "a"), task("c", after: "a"), task("a")], jobs: 1
    )
    #expect(graph.order == ["a", "b", "c", "d"])
  }

  @Test func `tasks need their dependencies, direct and indirect`() throws {
    let nodes = [task("a"), task("b", after: "a"), task("c", after: "b"), task("x")]
      .map(TaskGraph.Node.init)
    #expect(try TaskGraph.names(neededBy: ["c"], in: nodes) == ["a", "b", "c"])
    #expect(throws: TaskGraphError.unknownTask("d", nearest: "a")) {
      try TaskGraph.names(neededBy: ["d"], in: nodes)
    }
  }

  @Test func `only a service needs a readiness for its dependents`() {
    var service = TaskDefinition("s", Command("true"), isService: true)
    #expect(service.policy.keepsAlive)
    #expect(problems(service, task("t", after: "s")).count == 1)
    service.readiness = TaskDefinition.Readiness(.port(1))
    #expect(problems(service, task("t", after: "s")).isEmpty)
    // Its result is that of each of its runs.
    var kept = task("k")
    kept.policy.keepsAlive = true
    #expect(problems(kept, task("t", after: "k")).isEmpty)
  }
}
