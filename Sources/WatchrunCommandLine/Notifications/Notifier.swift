import ActionRunning
import Diagnostics
import Support
import Synchronization
import SystemCalls
import WatchrunSettings

/// Tells the user about the ends of runs: by a desktop notification, and by the terminal's bell.
///
/// A notification goes to the terminal of the messages, or to a program that is not waited for. It is
/// never written to a pipe or a file.
final class Notifier: Sendable {
  private enum Way {
    case terminal(TerminalNotification)
    case program
    case bell
  }

  private struct State {
    var rule = NotificationRule()
    /// `nil` as long as nothing has asked for notifications.
    var way: Way?
    var hasFailed = false
  }

  private let console: Console
  private let directory: Path
  private let isInTmux: Bool
  private let state = Mutex(State())

  init(_ console: Console, directory: Path) {
    self.console = console
    self.directory = directory
    isInTmux = environmentVariable("TMUX")?.isEmpty == false
  }

  /// - Parameter picture: The picture after the report.
  func handle(_ report: TaskReport, in picture: SessionPicture, _ settings: Settings) {
    guard settings.notifies else { return }
    prepare(settings)
    guard var notification = notification(for: report, picture.plan) else { return }
    let errors = report.failedTasks.flatMap { picture.diagnostics[$0] }
    if let error = errors.first(where: { $0.severity == .error }) {
      notification = notification.naming(error, in: directory)
    }
    // A command that is restarted repeatedly fails repeatedly.
    var (isRestart, isRed) = (false, false)
    if case .run(let run, _) = report { isRestart = run.trigger.reason == .restart }
    if case .round = report { isRed = !picture.redTasks.isEmpty }
    send(notification, isRed, settings, isRestart ? .change : settings.effectiveNotifyMode)
  }

  /// Of the tasks of a project, whole rounds count.
  private func notification(for report: TaskReport, _ plan: SessionPlan) -> Notification? {
    switch report {
    case .run(let run, _) where plan.origin == .commandLine:
      let text = plan.tasks.first { $0.name == run.task }
      return text.flatMap { Notification(report, of: $0, in: directory) }
    case .round(.ended(let round)) where plan.origin != .commandLine:
      return Notification(round, in: directory)
    default:
      return nil
    }
  }

  private func send(
    _ notification: Notification, _ isRed: Bool, _ settings: Settings, _ mode: NotifyMode
  ) {
    let isSuccess = notification.isSuccess
    let (isDue, way) = state.withLock { state in
      (state.rule.isDue(afterSuccess: isSuccess, whileOthersAreRed: isRed, mode), state.way)
    }
    guard isDue else { return }
    if settings.ringsBell { console.ringBell() }
    switch way {
    case .terminal(let sequence):
      console.writeToTerminal(sequence.bytes(for: notification, isInTmux: isInTmux))
    case .program:
      startProgram(notification)
    case .bell:
      if !settings.ringsBell { console.ringBell() }
    case nil:
      break
    }
  }

  private func startProgram(_ notification: Notification) {
    do throws(SystemError) {
      try DetachedProgram(arguments: NotifySend.arguments(for: notification)).start {
        [self] reason in report("\(NotifySend.name) \(reason)")
      }
    } catch {
      report("\(NotifySend.name): \(error.reason)")
    }
  }

  /// Reports the first failure to notify.
  private func report(_ reason: String) {
    if state.withLock({ exchange(&$0.hasFailed, with: true) }) { return }
    console.warn("cannot show a notification: \(reason)")
  }

  /// Chooses how notifications are shown, when they are asked for the first time.
  private func prepare(_ settings: Settings) {
    guard settings.notifyMode != .never, state.withLock({ $0.way == nil }) else { return }
    let way: Way
    if console.isTerminal, let sequence = TerminalNotification(environmentVariable) {
      way = .terminal(sequence)
    } else if NotifySend.isUsable(environmentVariable, in: programDirectories()) {
      way = .program
    } else {
      way = .bell
    }
    state.withLock { $0.way = way }
    guard case .bell = way else { return }
    console.warn(
      "no desktop notifications: "
        + (console.isTerminal
          ? "this terminal is not known to show them, and notify-send or a display is missing; "
            + "ringing the bell instead"
          : "standard error is not a terminal, and notify-send or a display is missing; "
            + "--on-failure runs another program"))
  }
}

extension Settings {
  /// Whether anything is to happen at the end of a run.
  fileprivate var notifies: Bool { notifyMode != .never || ringsBell }

  /// The runs after which something happens. With the bell alone, those of `failure`.
  fileprivate var effectiveNotifyMode: NotifyMode { notifyMode == .never ? .failure : notifyMode }
}

/// The program that shows desktop notifications.
enum NotifySend {
  static let name = "notify-send"

  /// Whether it is installed, and there is a desktop to show them on: over ssh, for example, it would wait for a
  /// service that is not there.
  static func isUsable(_ variable: (String) -> String?, in programs: [Path]) -> Bool {
    let hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY"].contains { variable($0)?.isEmpty == false }
    return hasDisplay && findProgram(Array(name.utf8), in: programs) != nil
  }

  /// The words of the command. Notification servers interpret tags and entities in the body.
  static func arguments(for notification: Notification) -> [[UInt8]] {
    let urgency = "--urgency=\(notification.isSuccess ? "low" : "normal")"
    let body = notification.body.escapedForMarkup(quotes: false)
    return [name, "--app-name=watchrun", urgency, "--", notification.title, body].map {
      Array($0.utf8)
    }
  }
}
