// Which programs watch by themselves, and which run the program that their arguments name.

extension ProjectDetection.Script {
  /// Programs that do nothing else.
  private static let watchers = words(
    """
    nodemon ts-node-dev tsnd node-dev live-server browser-sync watchexec entr
    sphinx-autobuild start-storybook ptw pytest-watch pytest-watcher watchfiles watchmedo guard
    vite parcel air bacon cargo-watch tsc-watch onchange reflex modd livereload elm-live ghcid
    slidev phpunit-watcher
    """)

  /// Options with which any program watches.
  private static let options = words("--watch --watch-path --watchAll --hot --reload")

  /// Programs, and the words with which they watch.
  private static let conditional = table(
    """
    next nuxt nuxi astro fastapi remix wrangler netlify storybook quasar vitepress vuepress | dev
    rsbuild svelte-kit tauri | dev
    webpack | serve -w
    ng | serve s test
    react-scripts craco react-app-rewired | start test
    karma expo docusaurus tailwind | start
    gatsby | develop
    cypress | open
    vue-cli-service mkdocs jekyll mdbook zola trunk symfony artisan | serve
    eleventy @11ty/eleventy | --serve
    hexo | server s
    rspack | serve dev
    ember | serve s
    hugo | server serve -w
    middleman lektor | server
    mix | phx.server test.watch
    php | -S
    quart | --debug
    sanic | --dev
    streamlit | run
    pelican | -r -lr -rl --autoreload
    nikola | auto
    quarto | preview
    typst mise shadow-cljs | watch
    marp | -w -s --server
    dune task rollup babel postcss tailwindcss @tailwindcss/cli stylus swc coffee mocha vite | -w
    vite-node | -w
    tsc | -w -watch
    stack | --file-watch
    flask | --debug FLASK_DEBUG=1 FLASK_DEBUG=true
    manage.py | runserver runserver_plus
    django-admin | runserver
    latexmk | -pvc
    gradle gradlew | --continuous -t
    """)

  /// Words with which a program ends that watches otherwise.
  private static let once = words(
    """
    CI=1 CI=true --no-watch --watch=false --watchAll=false --single-run --noreload --no-reload
    """)
  /// Words with which one ends unless an option says to watch.
  private static let ending = table(
    """
    vite | build preview optimize
    parcel | build
    slidev | build export format theme
    """)

  /// Programs that run a task, which its name may say to watch: `make watch`.
  private static let runners = words(
    """
    make just task rake rails gulp grunt webpack turbo tsx dotnet cargo vitest compass docker
    mdbook trunk
    """)

  static func words(_ text: String) -> Set<String> {
    Set(text.split(whereSeparator: \.isWhitespace).map(String.init))
  }

  /// Lines of programs, and after a bar the words that all of them have.
  static func table(_ text: String) -> [String: Set<String>] {
    var table: [String: Set<String>] = [:]
    for line in text.split(separator: "\n") {
      let parts = line.split(separator: Character("|")).map { words(String($0)) }
      for program in parts[0] { table[program] = parts.count > 1 ? parts[1] : [] }
    }
    return table
  }

  /// Whether a program watches with these arguments and variables.
  static func watches(_ words: [String], _ variables: [String]) -> Bool {
    guard let word = words.first else { return false }
    let program = name(of: word)
    var arguments = Array(words.dropFirst())
    if program == "node", let file = arguments.firstIndex(where: { !$0.hasPrefix("-") }) {
      // The options after the file are its own.
      arguments.removeSubrange(file...)
    }
    let plain = arguments.filter { !$0.hasPrefix("-") }
    // Without what may be the value of an option, as in `astro build --mode dev`.
    let first = arguments.firstIndex { !$0.hasPrefix("-") }
    let known = Set(
      variables
        + arguments.indices.filter { index in
          index == first || arguments[index].hasPrefix("-") || !arguments[index - 1].hasPrefix("-")
        }.map { arguments[$0] })
    if !known.isDisjoint(with: once) { return false }
    let asked = known.intersection(conditional[program] ?? [])
    if asked.contains(where: { $0.hasPrefix("-") }) { return true }
    if known.isDisjoint(with: ending[program] ?? []),
      watchers.contains(program) || program.hasSuffix("-dev-server") || !asked.isEmpty
    {
      return true
    }
    let isManager = managers.contains(program)
    if isManager || runners.contains(program) {
      // Of another package: after its name.
      let names = plain.filter { !runs.contains($0) }
      let isElsewhere = !isManager || !places.isDisjoint(with: arguments)
      if names.prefix(isElsewhere ? 2 : 1).contains(where: {
        $0.split(separator: Character(":")).contains("watch")
      }) {
        return true
      }
    }
    // A file of a script has options of its own.
    if word.hasSuffix("js"), word.contains(".") { return false }
    let own = isManager ? arguments[...] : arguments.prefix { $0 != "--" }
    return own.contains { option in
      let parts = option.split(separator: Character("="), maxSplits: 1)
      return options.contains(parts.first.map(String.init) ?? "") && parts.last != "false"
    }
  }
}

// MARK: - Programs that run others

extension ProjectDetection.Script {
  static func isAssignment(_ word: String) -> Bool {
    let name = word.prefix { $0 == "_" || $0.isLetter || $0.isNumber }
    return !name.isEmpty && name.endIndex < word.endIndex && word[name.endIndex] == "="
  }

  /// The name of a program without its directory, a version, and the ending of a script: `vite` of
  /// `node_modules/vite/bin/vite.js`.
  static func name(of word: String) -> String {
    var name = word[...]
    if !word.hasPrefix("@") { name = word.split(separator: Character("/")).last ?? name }
    if let version = name.dropFirst().firstIndex(of: "@") { name = name[..<version] }
    for end in [".js", ".mjs", ".cjs"] where name.hasSuffix(end) { name = name.dropLast(end.count) }
    return String(name)
  }

  /// Programs and words of shells that run what follows, and those that do so after some words.
  private static let wrappers = words(
    """
    env exec command nice ionice nohup time timeout setsid stdbuf sudo npx bunx pnpx dotenv
    dotenvx xvfb-run xargs then else elif do if while until ! {
    """)
  private static let launchers = table(
    """
    bundle asdf rbenv direnv | exec
    npm mise | exec x
    yarn pnpm | exec dlx run
    bun | x run
    uv poetry pipenv pdm hatch pixi conda doppler | run
    """)
  static let managers = words("npm yarn pnpm bun")
  private static let interpreters = words("node ruby php perl python python3")
  private static let optionsWithValues = words(
    """
    -u -n -p -f -e -I -L -P --package --with --project --env-file
    """)
  /// Wrappers with options of these names that have no value.
  private static let flags = table(
    """
    sudo | -n
    time command | -p
    setsid | -f
    """)

  /// The words of the program that the first one starts by its arguments; `nil` for one that runs itself.
  static func started(by words: ArraySlice<String>) -> ArraySlice<String>? {
    guard let first = words.first else { return nil }
    let rest = words.dropFirst()
    let name = name(of: first)
    if isAssignment(first) { return rest }
    // Others set variables, too: cross-env, env-cmd.
    let setsVariables = rest.first.map(isAssignment) ?? false
    if wrappers.contains(name) || setsVariables {
      return withoutOptions(rest, flags[name] ?? [])
    }
    if let words = launchers[name], let word = rest.first, words.contains(word) {
      return withoutOptions(rest.dropFirst())
    }
    if ["yarn", "pnpm", "bun", "uvx"].contains(name) { return withoutOptions(rest) }
    guard interpreters.contains(name) else { return nil }
    if let module = rest.firstIndex(of: "-m"), module + 1 < rest.endIndex {
      return [String(rest[module + 1].map { $0 == "_" ? "-" : $0 })] + rest[(module + 2)...]
    }
    let file = rest.drop { $0.hasPrefix("-") }
    return file.isEmpty || rest.contains("-c") ? nil : file
  }

  /// The words after options, their values, numbers and the current directory: `vite` of `-n 5 vite`.
  private static func withoutOptions(
    _ words: ArraySlice<String>, _ flags: Set<String> = []
  ) -> ArraySlice<String>? {
    var rest = words
    while let word = rest.first {
      if optionsWithValues.contains(word), !flags.contains(word) {
        rest = rest.dropFirst(2)
      } else if word.hasPrefix("-") || word == "." || word.first?.isNumber == true {
        rest = rest.dropFirst()
      } else {
        return rest
      }
    }
    return nil
  }
}
