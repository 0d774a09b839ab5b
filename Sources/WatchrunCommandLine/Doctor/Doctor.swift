import FileObservation
import PathFiltering
import SystemCalls
import WatchrunSettings

/// `--doctor`: finds out what would be watched here, and what limits that. Starts and watches nothing.
struct Doctor {
  let settings: Settings
  let directory: Path

  func print() throws(Failure) {
    let report = try report()
    try writeAnswer(settings.answersInJSON ? report.json : Array(report.text.utf8))
  }

  func report() throws(Failure) -> DoctorReport {
    let (found, project) = try findProject()
    var settings = settings
    var watched = settings.effectiveWatched
    // Without a command, the tasks decide what is watched.
    if let project, settings.command.isEmpty {
      settings = settings.adding(project.defaults)
      settings.ignores = project.ignores + settings.ignores
      let overridden = project.overridden(by: settings, in: directory)
      watched = overridden.watched(in: directory)
    }
    let options = ObserverOptions(
      filter: settings.makeFilter(in: directory), followsLinks: settings.followsLinks,
      polling: settings.polling)
    let began = Instant.now
    let survey = TreeSurvey(of: watched, options: options)
    let scanTime = Instant.now - began
    let names = survey.roots.map { fileSystemName(at: $0.path) }
    return DoctorReport(
      system: Self.system, directory: directory, project: found, survey: survey,
      fileSystems: names, scanTime: scanTime, inotify: InotifyUsage.current(),
      usesBuiltInList: settings.ignoreSources.contains(.defaults),
      quietPeriod: settings.quietPeriod, maximumWait: settings.maximumWait)
  }

  /// The project of the directory, and what the report says about it.
  private func findProject() throws(Failure) -> (DoctorReport.Project, Project?) {
    let source = ProjectSource(settings, directory: directory)
    var found = DoctorReport.Project(isUsed: settings.command.isEmpty)
    var project: Project?
    do throws(Failure) {
      if let (read, detected) = try source.find() {
        (project, found.detected) = (read, detected?.summary)
        if detected == nil { found.file = source.file }
      }
    } catch {
      (found.file, found.errors) = (source.file, error.messages)
    }
    project = try project?.selecting(settings.taskNames)
    found.tasks = project?.names ?? []
    return (found, project)
  }

  private static var system: String? {
    let parts = ["ostype", "osrelease"].compactMap { name in
      (try? fileContents(of: Path("/proc/sys/kernel/\(name)")))?
        .prefix { $0 != UInt8(ascii: "\n") }.printable
    }
    return parts.isEmpty ? nil : parts.joined(separator: " ")
  }
}
