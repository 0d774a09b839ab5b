import Support
import SystemCalls

// Which scripts of `package.json` package managers start, and those that run scripts of all members.

extension ProjectDetection.Script {
  /// The script, and those before and after it, of `yarn dev`, `npm run dev --prefix web`, `pnpm --filter web dev`,
  /// `yarn workspace web dev`, or those of all members: `turbo run test`.
  static func managed(
    _ program: String, _ words: ArraySlice<String>, in directory: ProjectDirectory
  ) -> [Self] {
    var isEverywhere = !managers.contains(program)
    var named: [ProjectDirectory.Member] = []
    var names: [String] = []
    var option = ""
    for part in words.prefix(while: { $0 != "--" }) {
      let parts = part.split(separator: Character("="), maxSplits: 1).map(String.init)
      // The values of other options are no names.
      for word in valued.contains(parts.first ?? "") ? parts : [part] {
        if places.contains(option), let member = member(word, of: directory) {
          named.append(member)
        } else if ["--filter", "-F"].contains(option) || everywhere.contains(word) {
          isEverywhere = true
        } else if !word.hasPrefix("-"), !runs.contains(word) {
          names.append(word)
        }
        option = word
      }
    }
    if !isEverywhere { names = Array(names.prefix(1)) }
    // These are commands of its own.
    if program == "bun", ["build", "test"].contains(names.first), !words.contains("run") {
      return []
    }
    if named.isEmpty {
      named =
        isEverywhere ? directory.members : [(directory, ProjectDetection.scripts(in: directory))]
    }
    // npm takes options before `--` for its own.
    let start = words.firstIndex(
      of: ["yarn", "pnpm", "bun"].contains(program) ? names.last ?? "" : "--")
    let arguments = start.map { words[$0...].dropFirst().filter { $0 != "--" }.map(\.word) } ?? []
    return named.flatMap { place, scripts in
      names.flatMap { name in
        ["pre", "", "post"].compactMap { time in
          let own = time.isEmpty && !arguments.isEmpty ? " " + ShellWords.quoted(arguments) : ""
          return scripts[time + name].map { Self($0 + own, in: place) }
        }
      }
    }
  }

  /// What package managers have before scripts of all members.
  private static let everywhere = words("-r --recursive -ws --workspaces workspaces")

  /// What package managers have before a script, or a package and a script.
  static let runs = words("run run-script workspace")

  /// What package managers have before the package whose script they run.
  static let places = words("workspace --filter -F -w --workspace --prefix -C --cwd --dir")

  private static let valued = places.union(["--target"])

  /// The package of this path, or of this name in the workspace.
  private static func member(
    _ name: String, of directory: ProjectDirectory
  ) -> ProjectDirectory.Member? {
    let place = ProjectDirectory(path: Path(name).absolute(from: directory.path))
    if place.holds(ProjectDetection.package) { return (place, ProjectDetection.scripts(in: place)) }
    return directory.members.first {
      $0.directory.json(of: ProjectDetection.package)?["name"]?.text == name
    }
  }
}
