import ActionRunning
import FileObservation
import Support
import SystemCalls
import WatchrunSettings

// The report as `Documentation/doctor.schema.json` describes it.
extension DoctorReport {
  /// An object in one line.
  var json: [UInt8] {
    JSONWriter.object { writer in
      writer.member("program", HelpText.version)
      writer.member("system", system)
      writer.member("directory", directory)
      writer.object("project") { writer in
        writer.member("used", project.isUsed)
        writer.member("file", project.file?.bytes.decoded)
        writer.member("detected", project.detected)
        writer.member("tasks", project.tasks)
      }
      writer.objects("roots", Array(zip(survey.roots, fileSystems))) { entry, writer in
        let (root, fileSystem) = entry
        writer.member("path", root.path)
        writer.member("exists", !root.isMissing)
        writer.member("readable", isReadable(root))
        writer.member("fileSystem", fileSystem)
        writer.member("polled", root.isPolled)
        Self.write(root.size, to: &writer)
      }
      writer.member("watches", survey.watches)
      writer.member("prunedDirectories", survey.pruned)
      writer.member("scanMilliseconds", scanTime.milliseconds)
      writer.objects("largest", survey.largest) { subtree, writer in
        writer.member("path", subtree.path)
        Self.write(subtree.size, to: &writer)
        writer.member("ignore", subtree.pattern.map { $0.decoded })
        writer.member("ignoreFile", subtree.patternBase.appending(".watchrunignore"))
      }
      writer.member("builtInRules", usesBuiltInList)
      writer.objects("ignoreFiles", survey.ignoreFiles) { file, writer in
        writer.member("path", file.path)
        writer.member("rules", file.rules.count)
      }
      if let inotify { writer.object("inotify") { Self.write(inotify, to: &$0) } }
      writer.object("timing") { writer in
        // A quiet period of `null` is `auto`.
        var period: Int?
        if case .fixed(let fixed) = quietPeriod { period = fixed.milliseconds }
        writer.member("quietPeriodMilliseconds", period)
        writer.member("maximumWaitMilliseconds", maximumWait.milliseconds)
      }
      writer.member("problems", problems)
      writer.member("version", JSONText.version)
    } + [UInt8(ascii: "\n")]
  }

  private static func write(_ size: TreeSurvey.Size, to writer: inout JSONWriter) {
    writer.member("directories", size.directories)
    writer.member("files", size.files)
    writer.member("ignoredFiles", size.ignoredFiles)
  }

  private static func write(_ inotify: InotifyUsage, to writer: inout JSONWriter) {
    writer.object("limits") { writer in
      writer.member("watches", inotify.limits.watches)
      writer.member("instances", inotify.limits.instances)
      writer.member("events", inotify.limits.events)
    }
    writer.object("used") { writer in
      writer.member("watches", inotify.used.watches)
      writer.member("instances", inotify.used.instances)
    }
    writer.objects("processes", inotify.processes) { process, writer in
      writer.member("pid", Int(process.pid))
      writer.member("name", process.name)
      writer.member("watches", process.watches)
      writer.member("instances", process.instances)
      writer.member("own", process.isOwn)
    }
    writer.member("unreadableProcesses", inotify.unreadableCount)
  }
}
