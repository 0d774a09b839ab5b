import PathFiltering
import SystemCalls

extension ProjectDetection {
  /// In the order in which make searches for them.
  private static let makefiles = ["GNUmakefile", "makefile", "Makefile"]

  static let makefile = ProjectKind(
    name: "make", role: .wrapper, files: makefiles,
    products: ["/build/", "*.o", "*.a", "*.so"], findProducts: makeProducts,
    sources: cSources + makefiles + ["*.mk"], comparesTimes: true,
    wanted: "target that builds or tests",
    findOthers: otherGoals
  ) { directory, _ in
    readMakefile(in: directory).map(makeSteps) ?? []
  }

  static func readMakefile(in directory: ProjectDirectory) -> Makefile? {
    directory.first(of: makefiles).flatMap(directory.text).map {
      Makefile($0, in: directory)
    }
  }

  /// Only goals that build or test. `make` alone makes its first goal, which may do anything.
  private static func makeSteps(_ makefile: Makefile) -> [Step] {
    func first(of names: [String]) -> String? {
      names.first { makefile.targets.contains($0) && makefile.builds($0) }
    }
    let test = first(of: Makefile.testNames)
    let isDefaultBuilt =
      makefile.defaultGoal.map { !Makefile.testNames.contains($0) && makefile.builds($0) } ?? false
    let build = isDefaultBuilt ? "make" : first(of: Makefile.buildNames).map { "make \($0)" }
    return (build.map { [Step("build", $0)] } ?? [])
      + (test.map { [Step("test", "make \($0)")] } ?? [])
  }

  @Sendable private static func otherGoals(
    _ directory: ProjectDirectory, _ file: String
  ) -> [ProjectKind.Offer] {
    guard let makefile = readMakefile(in: directory) else { return [] }
    let used = makeSteps(makefile).map(\.line)
    let names = makefile.actions.filter { goal in
      let isDefault = goal == makefile.defaultGoal
      return !used.contains("make \(goal)") && !(isDefault && used.contains("make"))
        && !(Makefile.buildNames.contains(goal) && makefile.builds(goal))
    }
    return offers(names, "make", makefile.obstacle)
  }

  /// The files that make writes, whatever they are called.
  @Sendable private static func makeProducts(in directory: ProjectDirectory) -> [String] {
    let text = directory.first(of: makefiles).flatMap(directory.text) ?? ""
    // Compilers of C write them, those of D read them.
    let isD = ["dmd", "gdc", "ldc2"].contains { text.includes($0) }
    return (isD ? [] : ["*.d"])
      + (readMakefile(in: directory)?.files ?? []).filter {
        !["/", "./"].contains(where: $0.hasPrefix) && !$0.includes("..")
          && !directory.holdsDirectory($0) && !makefiles.contains($0)
      }.map { GlobPattern(only: Path($0))?.description ?? "" }
  }

  /// Whether make compiles sources in this directory itself, rather than calling another tool for it.
  static func makeCompiles(in directory: ProjectDirectory) -> Bool {
    guard let name = directory.first(of: makefiles), let text = directory.text(of: name) else {
      return false
    }
    let callsCompiler = ["$(CC)", "${CC}", "$(CXX)", "${CXX}"].contains { text.includes($0) }
    return callsCompiler
      && [".c", ".cc", ".cpp"].contains { !directory.files(endingWith: $0).isEmpty }
  }

  private static let compilers: Set = ["CC", "CXX", "cc", "gcc", "clang", "cmake", "ninja"]

  /// Whether make calls the tools of a kind rather than a compiler.
  static func makeCalls(in directory: ProjectDirectory) -> (ProjectKind) -> Bool {
    let text = directory.first(of: makefiles).flatMap(directory.text) ?? ""
    let words = Set(
      text.split { !$0.isLetter && !$0.isNumber && !"_-".contains($0) }.map(String.init))
    return { words.isDisjoint(with: compilers) && !words.isDisjoint(with: $0.programs) }
  }
}
