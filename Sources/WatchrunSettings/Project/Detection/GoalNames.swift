/// What the usual names of goals, recipes, scripts and processes say.
enum GoalNames {
  /// Whether something leaves the machine, or a machine that others use is changed.
  static func publishes(_ name: String) -> Bool {
    words(of: name).contains { ["deploy", "publish", "upload", "push"].contains($0) }
  }

  /// Whether it is done once, at a deployment or to data, and not while a project is developed.
  static func isOneTime(_ name: String) -> Bool {
    words(of: name).contains {
      ["deploy", "predeploy", "postdeploy", "publish", "release", "rollback", "migrate"].contains(
        $0)
    }
  }

  /// Whether it undoes what others make, or changes what is installed, and is not for each save.
  static func isMaintenance(_ name: String) -> Bool {
    words(of: name).first.map { maintenance.contains($0) } ?? false
  }

  private static let maintenance: Set = [
    "clean", "cleanall", "distclean", "install", "mrproper", "uninstall",
  ]

  /// Whether something that makes `root` must leave it to people, since it changes the computer or starts something.
  static func isManual(_ name: String, for root: String) -> Bool {
    let isUsual = ProjectDetection.usualNames.contains(root)
    // What tests need ends before they begin.
    let isNeeded = Makefile.testNames.contains(root) && ["run", "serve", "start"].contains(name)
    return name != root && (isUsual || !isAction(root)) && manual.contains(name) && !isNeeded
  }

  private static let manual: Set = [
    "burn", "flash", "install", "open", "program", "run", "serve", "start", "uninstall",
  ]

  static func isAction(_ name: String) -> Bool {
    words(of: name).first.map { actions.contains($0) } ?? false
  }

  /// Names without those that publish, and then those.
  static func ordered(_ names: [String]) -> [String] {
    names.filter { !publishes($0) && !isOneTime($0) }
      + names.filter { publishes($0) || isOneTime($0) }
  }

  private static func words(of name: String) -> [String] {
    name.lowercased().split { !$0.isLetter && !$0.isNumber }.map { String($0) }
  }

  private static let actions = Set(
    """
    all apply backup bench bootstrap build bump burn check clean cleanall commit compose console
    coverage default deploy deps destroy dev dist distclean docker docs down drop flash fmt
    format help info init install lint list login logs migrate mrproper open plan preview print
    provision ps publish pull push qemu release reset restart restore rollback run seed serve
    server setup shell ship show ssh start stop sync tag test tests tidy uninstall up update
    upgrade upload usage version view watch
    """.split(whereSeparator: \.isWhitespace).map(String.init))
}
