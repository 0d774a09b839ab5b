import SystemCalls

/// The program `watchrun`.
public enum Watchrun {
  /// Does what the command line says, and exits.
  public static func main() -> Never {
    let began = FileTime.processStart()
    openMissingStandardDescriptors()
    let ignored = ignoredSignals()
    // A reader that goes away is told by the failing write.
    Signal(rawValue: SIGPIPE).ignore()
    Signal(rawValue: SIGCHLD).restoreDefaultAction()
    do throws(UsageError) {
      start(try OptionParser.parse(commandLineWords()), began: began, ignoredSignals: ignored)
    } catch {
      Console(shown: .problem, isColored: false).say(.problem, error.description)
      exit(ExitCode.usage)
    }
  }

  private static func start(
    _ settings: Settings, began: FileTime, ignoredSignals: Set<Signal>
  ) -> Never {
    switch settings.task {
    case .help: printAndExit(HelpText.full)
    case .version: printAndExit(HelpText.version + "\n")
    case .run: break
    }
    let console = Console(settings)
    do throws(Session.Failure) {
      let session = try Session(
        settings, console: console, began: began, ignoredSignals: ignoredSignals)
      session.run()
    } catch {
      console.problem(error.message)
      exit(error.status)
    }
  }

  private static func printAndExit(_ text: String) -> Never {
    try? writeAll(Array(text.utf8), to: STDOUT_FILENO)
    exit(ExitCode.success)
  }

  /// The words behind the program's name, as bytes.
  private static func commandLineWords() -> [[UInt8]] {
    let count = Int(CommandLine.argc)
    let words = UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: count)
    return words.dropFirst().map { $0.map { Path(cString: $0).bytes } ?? [] }
  }
}
