import FileObservation
import Support
import WatchrunSettings

// The report for people: sections of indented lines.
extension DoctorReport {
  private static let shownUsers = 5
  private static let shownFiles = 10

  var text: String {
    let title = ([HelpText.version] + (system.map { [$0] } ?? [])).joined(separator: ", ")
    let sections = [
      ("Project", projectLines), ("Watched paths", rootLines),
      (
        "Largest subtrees, with the line of .watchrunignore (or value of -i) that ignores each",
        largestLines
      ),
      ("Ignore rules", ruleLines), ("inotify (limits for each user)", inotifyLines),
      ("Timing", [timingLine]), ("Problems", problems.isEmpty ? ["none found"] : problems),
    ]
    return title + "\n"
      + sections.filter { !$0.1.isEmpty }.map { title, lines in
        "\n\(title)\n" + lines.map { "  \($0)\n" }.joined()
      }.joined()
  }

  private var projectLines: [String] {
    let tasks = project.tasks.map(\.printable).joined(separator: ", ")
    let unused = project.isUsed ? "" : " (not used, since a command is given)"
    if let file = project.file {
      return ["\(file)\(project.errors.isEmpty ? ": \(tasks)" : " has errors")\(unused)"]
    }
    if let detected = project.detected {
      return ["no \(ProjectSource.usualFile); \(detected)\(unused)"]
    }
    return ["no \(ProjectSource.usualFile), and no project detected"]
  }

  private var rootLines: [String] {
    let roots = zip(survey.roots, fileSystems).map { root, fileSystem in
      if root.isMissing { return "\(shown(root.path)): does not exist" }
      if !isReadable(root) { return "\(shown(root.path)): cannot be read" }
      let size = root.size
      let ignored = size.ignoredFiles == 0 ? "" : " (\(grouped(size.ignoredFiles)) ignored)"
      let events = root.isPolled ? "polled" : "reports events"
      let directories =
        size.directories == 0 ? "" : counted(size.directories, "directory", "directories") + ", "
      return "\(shown(root.path)): \(directories)\(counted(size.files, "file"))\(ignored); "
        + "on \(fileSystem ?? "an unknown file system"), \(events)"
    }
    let pruned = counted(
      survey.pruned, "ignored directory is not entered", "ignored directories are not entered")
    return roots + survey.failures.map { "\($0.path.map(shown) ?? ""): cannot be watched" }
      + ["\(survey.pruned == 0 ? "" : pruned + "; ")scanned in \(scanTime.shortDescription)"]
  }

  private var largestLines: [String] {
    let rows = survey.largest.map { subtree in
      let line = subtree.pattern?.printable ?? shown(subtree.path)
      let isHere = subtree.patternBase == directory
      let place =
        isHere ? "" : " in \(shown(subtree.patternBase.appending(".watchrunignore")))"
      return [
        counted(subtree.size.directories, "directory", "directories"),
        counted(subtree.size.files, "file"), line + place,
      ]
    }
    let widths = [0, 1].map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      zip(row, widths).map { cell, width in
        String(repeating: " ", count: width - cell.count) + cell + "  "
      }.joined() + row[2]
    }
  }

  private var ruleLines: [String] {
    let files = survey.ignoreFiles
    let more = files.count - Self.shownFiles
    return (usesBuiltInList ? [counted(DefaultIgnores.patterns.count, "built-in rule")] : [])
      + files.prefix(Self.shownFiles).map {
        "\(shown($0.path)): \(counted($0.rules.count, "rule"))"
      } + (more > 0 ? ["and \(counted(more, "more file"))"] : [])
  }

  private var inotifyLines: [String] {
    guard let inotify else { return [] }
    func line(_ title: String, _ needed: Int, _ used: Int, _ limit: Int?) -> String {
      "\(title): \(grouped(needed)) needed, \(grouped(used)) in use"
        + (limit.map { ", limit \(grouped($0))" } ?? "")
    }
    var lines = [
      line("watches", survey.watches, inotify.used.watches, inotify.limits.watches),
      line(
        "instances", survey.watches > 0 ? 1 : 0, inotify.used.instances, inotify.limits.instances),
    ]
    if let limit = inotify.limits.events { lines.append("event queue: limit \(grouped(limit))") }
    let users = inotify.processes.prefix(Self.shownUsers).map { process in
      "\(process.name.printable) (\(process.pid)) \(grouped(process.watches))"
        + (process.isOwn ? "" : ", of another user")
    }
    if !users.isEmpty { lines.append("most watches: \(users.joined(separator: ", "))") }
    if inotify.unreadableCount > 0 {
      lines.append(
        counted(
          inotify.unreadableCount, "process of another user is not counted",
          "processes of other users are not counted") + ": only root may read what they watch")
    }
    return lines
  }

  private var timingLine: String {
    let period =
      switch quietPeriod {
      case .growing(let range):
        "auto (\(range.lowerBound.shortDescription) to \(range.upperBound.shortDescription))"
      case .fixed(let period): period.shortDescription
      }
    return "quiet period \(period), maximum wait \(maximumWait.shortDescription)"
  }
}
