import SystemCalls

// Which commands change what others see: they publish, upload, push or deploy something.

extension ProjectDetection.Script {
  /// Programs, and the words with which they do; without words, they always do.
  private static let publishers = table(
    """
    ansible-playbook dput ftp gh-pages lftp np release-it scp semantic-release sftp ssh sshpass
    surge
    ghp-import | -p --push
    amplify copilot railway sst | deploy publish push up
    anaconda cabal conan luarocks maturin rye stack twine | publish upload
    eb hugo kamal lein mike zappa | deploy
    aws | cp sync mv rm deploy publish put-object update-function-code update-service
    az | acr deploy deployment up
    buildah butler cf docker-compose dotnet gem hg jj pod podman | push
    bun changeset composer dart elm flit flutter gradle gradlew hatch jsr nimble npm ovsx pdm | publish
    pnpm poetry quarto sbt uv vsce yarn | publish
    lerna | publish version
    cap convex firebase fly flyctl netlify sam serverless sls | deploy
    cargo | publish release
    cdk | deploy destroy
    clasp supabase | deploy push
    crane oras skopeo | copy cp push sync
    curl | -T --upload-file
    docker nerdctl | push --push
    drizzle-kit | migrate push
    eas | build deploy submit update
    electron-builder | always onTagOrDraft publish -p=always --publish=always
    fastlane | deploy release beta
    gcloud | deploy submit
    gh | release merge
    git | push send-email stash
    glab nx | release
    goreleaser | release publish
    gsutil | cp mv rsync
    helm | push install upgrade
    heroku | deploy container:push container:release
    hexo | deploy d -d --deploy
    ko | apply build create publish resolve run
    kubectl | apply create delete replace rollout set
    mix | hex.publish
    mkdocs | gh-deploy
    mvn mvnw | deploy release:perform
    oc | apply create delete replace rollout
    pack | --publish
    prisma | deploy push reset
    pulumi | up destroy
    rclone | copy move sync
    s3cmd | put sync
    setup.py | register upload
    sf sfdx | deploy force:source:deploy force:source:push
    skaffold | apply build deploy run
    snapcraft | push upload
    svn | commit ci
    terraform terragrunt tofu | apply destroy
    vercel | deploy --prod
    wrangler | deploy publish
    """)

  /// Options with which nothing is changed.
  private static let trials = words(
    "--dry-run --check --syntax-check --snapshot --local --push=false")
  /// Programs of which `-n` is one, too. It is a namespace for others.
  private static let shortTrials = words("make gmake rsync git")

  /// Programs whose first words are names of goals, scripts or files.
  private static let callers = words(
    """
    make gmake just task rake npm yarn pnpm bun deno composer tsx ts-node sh bash dash zsh source .
    """)

  /// What these words do that others see, such as `git push`; `nil` for nothing.
  private static func publication(_ words: [String]) -> String? {
    guard let first = words.first else { return nil }
    let program = name(of: first)
    let arguments = words.dropFirst()
    if arguments.contains(where: { isTrial($0, program) }) { return nil }
    // One may be called 'release'.
    if program == "cargo", arguments.contains("--profile") { return nil }
    if program == "rsync" {
      return arguments.contains { !$0.hasPrefix("-") && $0.contains(":") } ? program : nil
    }
    if let words = publishers[program] {
      if words.isEmpty { return program }
      let word = arguments.first(where: words.contains)
      if let word, word != "stash" { return "\(program) \(word)" }
      if program == "vercel", arguments.allSatisfy({ $0.hasPrefix("-") }) { return program }
    }
    let called = callers.contains(program) ? arguments.filter { !$0.hasPrefix("-") } : []
    if let name = called.first(where: { GoalNames.publishes($0) }) { return "\(program) \(name)" }
    // A script, also one that an interpreter runs: `deploy.py`.
    return first.contains { "/.".contains($0) } && GoalNames.publishes(program) ? first : nil
  }

  private static func isTrial(_ option: String, _ program: String) -> Bool {
    if option == "-n" { return shortTrials.contains(program) }
    return trials.contains(option)
      || option.hasPrefix("--dry-run=")
        && !["--dry-run=none", "--dry-run=false"].contains(option)
  }

  /// Why a task that ends must not run these words by itself: what others see of it, what it changes elsewhere on
  /// the computer, or a program that watches.
  static func obstacle(_ words: [String], _ variables: [String]) -> String? {
    publication(words) ?? installation(words)
      ?? (watches(words, variables) || isAttached(words)
        ? words.prefix(2).joined(separator: " ") : nil)
  }

  /// The first obstacle of the line; `nil` if nothing is known.
  var obstacle: String? {
    var followed: Set<String> = []
    return find(&followed, Self.obstacle)
  }

  /// The goals that it makes by calling one of these tools, but not in another directory.
  func goals(of tools: [String]) -> [String] {
    commands.flatMap(\.stages).filter {
      tools.contains(Self.name(of: $0.first ?? "")) && !$0.contains("-C")
    }.flatMap { $0.dropFirst().filter { !$0.hasPrefix("-") && !Self.isAssignment($0) } }
  }
}
