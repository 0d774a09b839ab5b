// Which commands change the computer beside the project, or start what does not end.

extension ProjectDetection.Script {
  /// Programs, and the words with which they do; without words, they always do.
  private static let installers = table(
    """
    sudo doas insmod modprobe rmmod stow
    avrdude dfu-util iceprog nrfjprog openocd st-flash stm32flash teensy_loader_cli
    esptool esptool.py | write_flash write-flash
    idf.py west | flash
    arduino-cli pio platformio | upload
    """)
  private static let copiers = words("cp install ln mv rsync")

  /// Where everything of a user is, and the directories of the system.
  private static let homes = ["~", "$HOME", "${HOME", "$DESTDIR", "${DESTDIR"]
  private static let systems = words(
    "Applications Library bin boot etc lib opt sbin srv usr var www")

  /// What these words change beside the project: `cp ~/bin`; `nil` for nothing.
  static func installation(_ words: [String]) -> String? {
    let program = name(of: words.first ?? "")
    let arguments = words.dropFirst().prefix { !$0.contains(">") }
    if let words = installers[program] {
      let word = words.isEmpty ? arguments.first ?? "" : arguments.first(where: words.contains)
      return word.map { "\(program) \($0)" }
    }
    guard copiers.contains(program) else { return nil }
    let option = arguments.firstIndex { ["-t", "--target-directory"].contains($0) }
    let paths = (option.map { arguments[$0...].dropFirst() } ?? arguments).filter {
      !$0.hasPrefix("-")
    }
    // A single path is linked into the current directory.
    guard let target = option == nil ? paths.last : paths.first,
      option != nil || paths.count > 1 || program == "install"
    else { return nil }
    let top = target.split(separator: Character("/")).first.map(String.init) ?? ""
    let isOutside =
      homes.contains(where: target.hasPrefix)
      || target.hasPrefix("/") && systems.contains(top) && !(target + "/").hasPrefix("/var/tmp/")
    return isOutside ? "\(program) \(target)" : nil
  }

  /// Package managers, and what stands beside them in recipes.
  private static let packagers = words(
    """
    npm npx yarn pnpm bun pip pip3 pipx pipenv poetry pdm uv hatch conda mamba pixi venv
    virtualenv pre-commit bundle gem composer mix cargo rustup go dotnet stack cabal opam dart
    flutter luarocks R Rscript brew echo printf cd test [ fi touch mkdir source . command
    which true : docker docker-compose podman git for done } set exit export
    """)

  /// Whether it is a line of a recipe that must be left to people, as the name of the recipe says.
  func isManual(in name: String, for root: String) -> Bool {
    guard GoalNames.isManual(name, for: root) else { return false }
    // What a project needs may be installed.
    return name != "install"
      || !commands.allSatisfy { command in
        command.stages.contains {
          $0.first.map { Self.packagers.contains(Self.name(of: $0)) } ?? true
        }
      }
  }

  /// Whether it starts containers and stays with them. Those for tests end.
  static func isAttached(_ words: [String]) -> Bool {
    let program = name(of: words.first ?? "")
    guard program.hasSuffix("-compose") || program == "docker" && words.contains("compose"),
      words.first(where: ["up", "run", "exec"].contains) == "up",
      !words.contains(where: { $0.includes("test") })
    else { return false }
    return Set(words.map { String($0.prefix { $0 != "=" }) }).isDisjoint(with: detached)
  }

  /// Options with which the command ends.
  private static let detached = Self.words(
    """
    -d --detach --wait --no-start --abort-on-container-exit --abort-on-container-failure
    --exit-code-from
    """)
}
