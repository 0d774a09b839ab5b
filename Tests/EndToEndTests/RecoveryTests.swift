import SystemCalls
import TestSupport
import Testing

/// Recovery from what the kernel refuses, drops or removes.
@Suite struct RecoveryTests {
  /// Whether limits and mounts can be set in a namespace.
  private static let maySeparate = Tool.succeeds(
    "unshare", "-Urm", "sh", "-c", "mount -t tmpfs none /mnt")

  /// The prefix that starts a program as a user without privileges; `nil` if that is impossible.
  private static let asNobody: [String]? = {
    if geteuid() != 0 { return [] }
    let prefix = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    return Tool.succeeds(prefix + [Watchrun.program, "--version"]) ? prefix : nil
  }()

  /// Recovering from one overflow must not cause the next.
  @Test func `the watcher is idle again after repeated overflows`() async throws {
    try await withProject { project in
      let watchrun = try await project.startPrinting()
      // After the first comparison, only a rescan finds changes of which the hints were dropped.
      try await project.settle(watchrun)
      let rounds = 3
      for round in 1...rounds {
        try await watchrun.process.suspend()
        try project.overflow()
        try project.write("last", "\(round)")
        watchrun.process.send(SIGCONT)
        try project.overflow()
      }
      try await project.settle(watchrun)
      var (before, now) = (-1, ProcessTable.processorTime(of: watchrun.process.pid))
      for _ in 0..<20 where now != before {
        try await Task.sleep(for: .milliseconds(500))
        (before, now) = (now, ProcessTable.processorTime(of: watchrun.process.pid))
      }
      #expect(now == before, "it is idle")
      let overflows = try watchrun.batches().count { $0.overflow }
      #expect((1...(2 * rounds + 1)).contains(overflows))
      #expect(watchrun.errors.count { $0.contains("max_queued_events") } == 1)
      try await project.reported("last", by: watchrun)
    }
  }

  /// A change of branches removes a directory and makes it again. The program stays in the removed one.
  @Test(arguments: [[], ["--poll=20ms"]])
  func `the current directory is entered by its path after it was removed and made again`(
    _ options: [String]
  ) async throws {
    try await withProject { project in
      try project.makeDirectory("sub")
      try project.write("sub/source", "1")
      let watchrun = try await project.start(
        ["-v", "-C", "sub"] + options + ["--", "sh", "-c", #"echo "$(cat source)" >> "$LOG""#])
      try await watchrun.watching()
      try await project.logged("1")
      try await project.shell("rm -r sub")
      try await watchrun.said("/sub does not exist; the next change after it is back runs it")
      try project.makeDirectory("sub")
      try project.write("sub/source", "2")
      try await project.logged("2")
      try await project.shell("rm -r sub; mkdir sub; echo 3 > sub/source")
      try await project.logged("3")
      try project.write("sub/source", "4")
      try await project.logged("4")
    }
  }

  /// A project is moved away, and a copy of it put in its place: its watches stay with the one that was moved.
  @Test(arguments: Effort.rows(["src", "src/file", "."], quick: 1))
  func `the current directory is watched by its path when another one takes its place`(root: String)
    async throws
  {
    try await withProject { project in
      try project.makeDirectory("sub/src")
      try project.write("sub/src/file", "old")
      let watchrun = try await project.start(["--print", "json", "-C", "sub", "-w", root])
      try await watchrun.ready()
      for step in [
        "cp -r sub copy; mv sub away; sleep 0.2; mv copy sub", "echo one > sub/src/file",
        "echo two > sub/src/file",
      ] {
        let count = try watchrun.batches().count
        try await project.shell(step)
        try await eventually("it is reported: \(step)") { try watchrun.batches().count > count }
        // Later changes are further batches.
        try await Task.sleep(for: .seconds(1))
      }
    }
  }

  /// Whether there are subvolumes.
  private static let mayHaveSubvolumes = Tool.succeeds(
    "unshare", "-m", "sh", "-c",
    """
    file=$(mktemp) && trap 'rm "$file"' EXIT && truncate -s 128M "$file" && mkfs.btrfs -q "$file" \
      && mount -o loop "$file" /mnt
    """)

  /// A snapshot has the inodes and the times of its subvolume, and no watch reports the removal of one.
  @Test(
    .enabled(if: mayHaveSubvolumes, "there is no btrfs here"),
    arguments: Effort.rows(
      [
        ("top/sub", "src"), ("top/sub", "src/file"), ("top/sub", "."), ("top/sub/src", "src"),
      ], quick: 1),
    ["mv $volume top/away", "btrfs subvolume delete $volume"])
  func `a subvolume that is rolled back is watched`(place: (String, String), removal: String)
    async throws
  {
    try await withProject { project in
      try project.makeDirectory("top")
      let watchrun = try await project.start(
        ["--print", "json", "-C", "top/sub", "-w", place.1],
        prefix: [
          "unshare", "-m", "sh", "-c",
          """
          exec 3>&1 >&2
          truncate -s 128M "$OUTSIDE/disk" && mkfs.btrfs -q "$OUTSIDE/disk" && mount -o loop "$OUTSIDE/disk" top
          step() { while [ ! -e "$OUTSIDE/$1" ]; do sleep 0.1; done; }
          volume=\(place.0)
          mkdir -p $(dirname $volume); btrfs subvolume create $volume; mkdir -p top/sub/src; echo old > top/sub/src/file
          btrfs subvolume snapshot $volume top/before
          (step back; \(removal); btrfs subvolume snapshot top/before $volume
          step one; echo one > top/sub/src/file; step two; echo two > top/sub/src/file) &
          exec "$@" >&3
          """, "sh",
        ])
      try await watchrun.ready()
      for step in ["back", "one", "two"] {
        let count = try watchrun.batches().count
        try project.write(project.outside + "/" + step)
        try await eventually("it is reported: \(step)") { try watchrun.batches().count > count }
        try await Task.sleep(for: .seconds(1))
      }
    }
  }

  /// The limit of inotify instances is reached.
  @Test(.enabled(if: maySeparate, "limits cannot be set here"))
  func `without an inotify instance, the limit is named and files are polled`() async throws {
    try await withProject { project in
      let watchrun = try await project.start(
        ["--print", "json"],
        prefix: [
          "unshare", "-Ur", "sh", "-c",
          "echo 0 > /proc/sys/user/max_inotify_instances && exec \"$@\"", "sh",
        ])
      try await watchrun.said("fs.inotify.max_user_instances=")
      try await eventually("it polls, and reports changes") {
        try project.write("file", "more\n", appending: true)
        return try project.changes(by: watchrun).contains { $0.path == "file" }
      }
    }
  }

  /// An inotify instance for each path exhausts their limit.
  @Test func `two hundred watched paths use one inotify instance`() async throws {
    try await withProject { project in
      var options: [String] = []
      for number in 1...200 {
        try project.makeDirectory("root-\(number)")
        options += ["-w", "root-\(number)"]
      }
      let watchrun = try await project.start(["--print", "json"] + options)
      try await #expect(watchrun.ready().watches >= 200)
      #expect(ProcessTable.inotifyInstances(of: watchrun.process.pid) == 1)
      try project.place("root-200/file")
      try await project.reported("root-200/file", "created", by: watchrun)
    }
  }

  /// Files appear in a new directory before it is watched.
  @Test func `the last run sees every file of a copied directory`() async throws {
    try await withProject { project in
      try await project.shell(
        "mkdir $OUTSIDE/made; cd $OUTSIDE/made; for i in $(seq 200); do echo $i > file-$i; done")
      _ = try await project.startRunning([], #"find . -name 'file-*' | wc -l >> "$LOG""#)
      try await project.shell("cp -r $OUTSIDE/made copy")
      try await project.logged("200")
    }
  }

  /// The kernel drops events when its queue is full.
  @Test func `nothing is missed when the kernel's queue overflows`() async throws {
    try await withProject { project in
      let watchrun = try await project.startPrinting()
      // After the first comparison, only a rescan finds changes of which the hints were dropped.
      try await project.settle(watchrun)
      let files = 500
      try await watchrun.process.suspend()
      try project.overflow()
      for number in 0..<files { try project.write("file-\(number)", "") }
      try project.makeDirectory("new")
      watchrun.process.send(SIGCONT)
      try await eventually("all files are reported") {
        let paths = try watchrun.changes().map(\.path)
        return paths.count >= files
          && Set(paths.filter { $0.contains("/file-") }).count == files
      }
      #expect(try watchrun.batches().contains { $0.overflow && $0.reason == "overflow" })
      try project.place("new/late")
      try await project.reported("new/late", "created", by: watchrun)
      #expect(watchrun.errors.count == 1)
      #expect(watchrun.errors.allSatisfy { $0.contains("max_queued_events") })
    }
  }

  /// A directory cannot be read.
  @Test(.enabled(if: asNobody != nil, "the user of the tests can read everything"))
  func `an unreadable directory is named, and watched when it is readable`() async throws {
    try await withProject { project in
      try project.makeDirectory("closed")
      try project.makeDirectory("open")
      try await project.shell("chmod 000 closed && chmod 755 .. .")
      let watchrun = try await project.start(
        ["--print", "json"], prefix: try #require(Self.asNobody))
      try await watchrun.ready()
      try await watchrun.said("cannot read " + project.path("closed"))
      try project.place("open/file")
      try await project.reported("open/file", "created", by: watchrun)
      try await project.shell("chmod 755 closed")
      try await project.settle(watchrun)
      try project.place("closed/file")
      try await project.reported("closed/file", "created", by: watchrun)
      #expect(watchrun.errors.count { $0.contains("closed") } == 1)
    }
  }

  /// A directory cannot be read.
  @Test(.enabled(if: asNobody != nil, "the user of the tests can read everything"))
  func `an unreadable root is named, and watched when it is readable`() async throws {
    try await withProject { project in
      try project.makeDirectory("closed")
      try await project.shell("chmod 000 closed && chmod 755 .. .")
      let watchrun = try await project.start(
        ["--print", "json", "-w", "closed"], prefix: try #require(Self.asNobody))
      try await watchrun.ready()
      try await watchrun.said("cannot read " + project.path("closed"))
      try await project.shell("chmod 755 closed")
      try await eventually("it is watched") {
        try project.write("closed/file", "more\n", appending: true)
        return try project.changes(by: watchrun).contains { $0.path == "closed/file" }
      }
    }
  }

  /// An unmounted file system takes its watches with it.
  @Test(
    .enabled(if: maySeparate, "nothing can be mounted here"),
    arguments: [("mounted", "mounted"), (".", "mounted/inner")])
  func `a directory is watched after its file system is unmounted`(root: String, lost: String)
    async throws
  {
    try await withProject { project in
      try project.makeDirectory("mounted")
      let watchrun = try await project.start(
        ["--print", "json", "-w", root],
        prefix: [
          "unshare", "-Urm", "sh", "-c",
          """
          mount -t tmpfs none mounted && echo text > mounted/inner
          (while [ ! -e "$OUTSIDE/go" ]; do sleep 0.1; done; umount mounted) &
          exec "$@"
          """, "sh",
        ])
      try await watchrun.ready()
      try project.write(project.outside + "/go")
      try await project.reported(lost, by: watchrun)
      try await eventually("a file in the directory below the mount is reported") {
        try project.write("mounted/file", "more\n", appending: true)
        return try project.changes(by: watchrun).contains { $0.path == "mounted/file" }
      }
      #expect(watchrun.process.exitStatus == nil)
    }
  }

  /// The kernel tells the watches of a covered directory nothing.
  @Test(
    .enabled(if: maySeparate, "nothing can be mounted here"),
    arguments: Effort.rows(["src", ".", "src/file", "src/inner", "link/src", "link"], quick: 3),
    ["mount -t tmpfs none src && cp -r other/. src", "mount --bind other src"])
  func `what is mounted over a watched directory is watched, and what is below it afterwards`(
    root: String, mount: String
  ) async throws {
    try await withProject { project in
      for directory in ["src/inner", "other/inner"] { try project.makeDirectory(directory) }
      for file in ["src/file", "src/inner/file", "other/file", "other/inner/file"] {
        try project.write(file, "old")
      }
      try project.makeLink("link", to: ".")
      let saved = root == "src/inner" ? "src/inner/file" : "src/file"
      let reported = root.hasPrefix("link") ? "link/" + saved : saved
      let watchrun = try await project.start(
        ["--print", "json", "-w", root],
        prefix: [
          "unshare", "-Urm", "sh", "-c",
          """
          step() { while [ ! -e "$OUTSIDE/$1" ]; do sleep 0.1; done; }
          (step mount; \(mount); step save; echo new >> \(saved); step unmount; umount src
          step save-again; echo newer >> \(saved)) &
          exec "$@"
          """, "sh",
        ])
      try await watchrun.ready()
      for step in ["mount", "save", "unmount", "save-again"] {
        let count = try project.changes(by: watchrun).count { $0.path == reported }
        try project.write(project.outside + "/" + step)
        try await eventually("the file has changed: \(step)") {
          try project.changes(by: watchrun).count { $0.path == reported } > count
        }
      }
      #expect(watchrun.process.exitStatus == nil)
    }
  }

  /// A checkout replaces many files, over some time.
  @Test(.enabled(if: Tool.git))
  func `a branch switch causes few runs, the last of which sees all files`() async throws {
    try await withProject { project in
      try await project.shell(
        """
        git init -q . && git config user.name a && git config user.email a@b
        for i in $(seq 200); do echo one > file-$i; done
        git add . && git commit -qm one && git checkout -qb other
        for i in $(seq 200); do echo other > file-$i; done
        git commit -qam other
        """)
      _ = try await project.startRunning([], #"grep -l one file-* | wc -l >> "$LOG""#)
      #expect(project.logged == ["0"])
      try await project.shell("git checkout -q HEAD~1")
      try await eventually("the last run sees all files") { project.logged.last == "200" }
      // One or two, unless the machine is busy.
      #expect(project.logged.count <= 6)
    }
  }

  /// `rm -rf dist && tsc`, at any pace: what is watched disappears while the server runs.
  @Test func `a server restarts with what a build has written that empties its output first`()
    async throws
  {
    try await withProject { project in
      let build = """
        rm dist/server/index.js; sleep $2; rmdir dist/server; sleep $3; rmdir dist; sleep $4
        mkdir dist; sleep $5; mkdir dist/server; sleep $6; echo part > dist/server/index.js; sleep $7
        echo $1 > dist/server/index.js
        """
      try project.write(project.outside + "/build", build)
      try project.makeDirectory("dist/server")
      try project.write("dist/server/index.js", "0\n")
      _ = try await project.startRunning(
        ["-w", "dist/server", "-r"], "sh", "-c",
        #"read build < dist/server/index.js || exit; echo "$build" >> "$LOG"; exec sleep 1000"#)
      var random = SeededGenerator(seed: 63)
      for number in 1...Effort.count(10, quick: 3) {
        let pauses = (1...6).map { _ in
          ["0", "0", "0.01", "0.03", "0.2"].randomElement(using: &random)!
        }
        try await project.shell(
          "sh '\(project.outside)/build' \(number) \(pauses.joined(separator: " ")); "
            + "'\(Watchrun.program)' --wait=30s")
        #expect(project.logged.last == "\(number)", "\(pauses)")
      }
    }
  }
}

extension Project {
  /// Causes more events than the kernel's queue holds, on two files in turn, since the kernel merges
  /// equal consecutive events.
  func overflow() throws {
    let files = try ["filler-1", "filler-2"].map { name in
      try Descriptor.open(Path(path(name)), O_WRONLY | O_CREAT, mode: 0o644).release()
    }
    defer { for file in files { close(file) } }
    let limit = try #require(Inotify.queueLimit)
    for number in 0..<(limit + 16) { try writeAll([0x78], to: files[number % 2]) }
  }
}
