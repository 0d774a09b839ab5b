import ActionRunning
import SystemCalls
import WatchrunSettings

/// Makes the commands of a task, and of the command line: what is run, its build, its hooks and its checks.
struct CommandMaker {
  let own: Project.Task
  /// What the command line, and the project, say for all tasks.
  let settings: Settings
  /// Later ones replace earlier ones.
  let variables: [Command.EnvironmentVariable]
  /// The shell for shell lines.
  let shell: [UInt8]
  var directory: Path?
  var delivery = Command.ChangeDelivery.environment

  func line(_ line: [UInt8]) -> Command { command([line], .shell(shell)) }

  /// The command as a project has it: the shell of a line is yet to be chosen.
  func command(_ command: Command) -> Command {
    self.command(command.words, command.form == .direct ? .direct : .shell(shell))
  }

  func command(_ words: [[UInt8]], _ form: Command.Form) -> Command {
    var command = Command(
      words: words, form: form, environment: Command.Environment(variables), directory: directory,
      inheritsStandardInput: false
    ).describingChanges(by: delivery)
    // The output of a single task goes to the terminal itself, unless it is read. That is decided at each start,
    // so that the task is the same when others are added.
    command.readOutputEnvironment = Command.Environment(
      Console.outputVariables(settings.colorMode, isTerminal: usesPseudoTerminal))
    return command
  }

  func policy(_ busy: BusyPolicy?) -> RunPolicy {
    var policy = RunPolicy(busyPolicy: busy, stopPlan: own.stopPlan, timeout: own.timeout)
    policy.onSuccess = own.onSuccess.map(line)
    policy.onFailure = own.onFailure.map(line)
    return policy
  }

  /// How messages show the task.
  func text(_ name: String, _ command: String, shown: String) -> TaskText {
    TaskText(
      name: name, holdsOutput: (own.outputMode ?? settings.outputMode) == .failed,
      usesPseudoTerminal: usesPseudoTerminal, log: own.log ?? settings.log, command: command,
      shownCommand: shown)
  }

  private var usesPseudoTerminal: Bool {
    own.usesPseudoTerminal ?? settings.usesPseudoTerminal
      ?? Console.usesPseudoTerminals(settings.colorMode)
  }
}
