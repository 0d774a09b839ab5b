import Foundation
import PathFiltering
import TestSupport
import Testing

@testable import WatchrunSettings

struct DetectionTests {
  /// The files of a directory, the summary of what is detected, and its tasks.
  private typealias Row = ([String: String], String, [String])

  private static let cmake =
    "[ -f .build/cmake/Makefile ] || cmake -S . -B .build/cmake && cmake --build .build/cmake"

  private static let alone: [Row] = [
    (
      ["Package.swift": ".target(name: \"a\")", "Sources/": ""],
      "this is a Swift package (Package.swift): build", ["build: swift build"]
    ),
    (
      ["Package.swift": ".testTarget(name: \"a\")"],
      "this is a Swift package (Package.swift): build, then test",
      ["build: swift build", "test: swift test"]
    ),
    (
      ["Package.swift": "", "Tests/": ""],
      "this is a Swift package (Package.swift): build, then test",
      ["build: swift build", "test: swift test"]
    ),
    (
      ["Cargo.toml": ""], "this is a Rust project (Cargo.toml): build, then test",
      ["build: cargo build", "test: cargo test"]
    ),
    (
      ["go.mod": ""], "this is a Go module (go.mod): build, then test",
      ["build: go build -o /dev/null ./...", "test: go test ./..."]
    ),
    (
      ["package.json": #"{"scripts": {"test": "jest", "build": "tsc", "lint": "x"}}"#],
      "this is a Node package (package.json): build, then test",
      ["build: npm run build", "test: npm run test"]
    ),
    (
      ["package.json": #"{"scripts": {"test": "vitest"}}"#, "pnpm-lock.yaml": ""],
      "this is a Node package (package.json): test", ["test: pnpm run test"]
    ),
    (
      ["package.json": #"{"scripts": {"build": "x"}}"#, "yarn.lock": ""],
      "this is a Node package (package.json): build", ["build: yarn run build"]
    ),
    (
      ["package.json": #"{"scripts": {"test": "x"}}"#, "bun.lockb": ""],
      "this is a Node package (package.json): test", ["test: bun run test"]
    ),
    (
      ["pyproject.toml": "", "tests/": ""], "this is a Python project (pyproject.toml): test",
      ["test: python3 -m pytest"]
    ),
    (
      ["setup.cfg": "[options.extras_require]\ntest = pytest\n", "setup.py": ""],
      "this is a Python project (setup.py): test", ["test: python3 -m pytest"]
    ),
    (
      ["pytest.ini": "", "uv.lock": ""], "this is a Python project (pytest.ini): test",
      ["test: uv run pytest"]
    ),
    (
      ["pyproject.toml": "dev = [\"pytest\"]", "poetry.lock": ""],
      "this is a Python project (pyproject.toml): test", ["test: poetry run pytest"]
    ),
    (
      ["pyproject.toml": "", "pdm.lock": "", "a_test.py": ""],
      "this is a Python project (pyproject.toml): test", ["test: pdm run pytest"]
    ),
    (
      ["tests/test_a.py": "", "Pipfile.lock": ""],
      "this is a Python project (tests/test_a.py): test", ["test: pipenv run pytest"]
    ),
    (
      ["pyproject.toml": "[[tool.hatch.envs.hatch-test.matrix]]"],
      "this is a Python project (pyproject.toml): test", ["test: hatch test"]
    ),
    (
      ["noxfile.py": "def tests(session): pass\ndef publish(session): pass\n"],
      "this is a Python project (noxfile.py): test", ["test: nox -s tests"]
    ),
    (
      ["composer.json": #"{"scripts": {"test": ["@php artisan test"]}}"#, "phpunit.xml": ""],
      "this is a PHP project (composer.json): test", ["test: composer test"]
    ),
    (
      ["composer.json": #"{"require": {}}"#, "phpunit.xml.dist": ""],
      "this is a PHP project (composer.json): test", ["test: vendor/bin/phpunit"]
    ),
    (
      ["composer.json": #"{"scripts": {"test": "phpunit-watcher watch"}}"#, "phpunit.xml": ""],
      "this is a PHP project (composer.json): test", ["test: vendor/bin/phpunit"]
    ),
    (
      ["composer.json": "{}", "phpunit.xml": "", "tests/Pest.php": ""],
      "this is a PHP project (composer.json): test", ["test: vendor/bin/pest"]
    ),
    (
      ["phpunit.dist.xml": "", "bin/phpunit": ""], "this is a PHP project (phpunit.dist.xml): test",
      ["test: bin/phpunit"]
    ),
    (
      ["dune-project": "(lang dune 3.0)"],
      "this is a dune project (dune-project): build, then test",
      ["build: dune build", "test: dune test"]
    ),
    (
      ["tox.ini": "[tox]\n[testenv]\n"], "this is a Python project (tox.ini): test", ["test: tox"]
    ),
    (
      ["tox.ini": "[pytest]\n", "setup.py": ""], "this is a Python project (tox.ini): test",
      ["test: python3 -m pytest"]
    ),
    (
      // Of all environments, one may publish.
      [
        "tox.ini": "[testenv:release]\ndeps = twine\ncommands =\n  build\n  twine upload dist/*\n",
        "test_a.py": "",
      ],
      "this is a Python project (tox.ini): test", ["test: python3 -m pytest"]
    ),
    (
      ["setup.py": "", "test/": ""], "this is a Python project (setup.py): test",
      ["test: python3 -m pytest"]
    ),
    (
      ["Rakefile": "Rake::TestTask.new", "Gemfile": ""],
      "this is a Ruby project (Rakefile): test", ["test: bundle exec rake test"]
    ),
    (
      ["Rakefile": "RSpec::Core::RakeTask.new(:spec)"],
      "this is a Ruby project (Rakefile): test", ["test: rake spec"]
    ),
    (
      ["Rakefile": "task test: [:spec]\ntask :spec do\nend\n"],
      "this is a Ruby project (Rakefile): test", ["test: rake spec"]
    ),
    (
      ["Rakefile": "task default: %w[compile] # deploy"],
      "this is a Ruby project (Rakefile): build",
      ["build: rake"]
    ),
    (
      ["Gemfile": "", ".rspec": ""], "this is a Ruby project (Gemfile): test",
      ["test: bundle exec rspec"]
    ),
    (
      ["Gemfile": "", "Rakefile": "", "bin/rails": ""],
      "this is a Ruby project (Rakefile): test", ["test: bin/rails test"]
    ),
    (
      ["mix.exs": ""], "this is a Mix project (mix.exs): build, then test",
      ["build: mix compile", "test: mix test"]
    ),
    (
      ["build.zig": "b.step(\"test\", \"run\")"],
      "this is a Zig project (build.zig): build, then test",
      ["build: zig build", "test: zig build test"]
    ),
    (["build.zig": ""], "this is a Zig project (build.zig): build", ["build: zig build"]),
    (
      ["build.gradle": "", "gradlew": ""],
      "this is a Gradle project (build.gradle): build, then test",
      ["build: sh ./gradlew assemble", "test: sh ./gradlew test"]
    ),
    (
      ["settings.gradle.kts": ""],
      "this is a Gradle project (settings.gradle.kts): build, then test",
      ["build: gradle assemble", "test: gradle test"]
    ),
    (
      ["pom.xml": "", "mvnw": ""], "this is a Maven project (pom.xml): test",
      ["test: sh ./mvnw -q test"]
    ),
    (
      ["pom.xml": ""], "this is a Maven project (pom.xml): test", ["test: mvn -q test"]
    ),
    (
      ["requirements.txt": "flask", "tests/test_a.py": ""],
      "this is a Python project (requirements.txt): test", ["test: python3 -m pytest"]
    ),
    (
      ["requirements.txt": "flask\npytest\n"],
      "this is a Python project (requirements.txt): test", ["test: python3 -m pytest"]
    ),
    (
      ["test_a.py": ""], "this is a Python project (test_a.py): test", ["test: python3 -m pytest"]
    ),
    (
      ["tests/test_a.py": ""], "this is a Python project (tests/test_a.py): test",
      ["test: python3 -m pytest"]
    ),
    (
      ["manage.py": "", "requirements.txt": "django"],
      "this is a Python project (manage.py): test", ["test: python3 manage.py test"]
    ),
    (
      ["manage.py": "", "pyproject.toml": "[tool.pytest.ini_options]"],
      "this is a Python project (pyproject.toml): test", ["test: python3 -m pytest"]
    ),
    (
      [
        "Taskfile.yml":
          "version: '3'\ntasks:\n  # x\n  build:\n    cmds:\n      - cc\n  test: ./run\n"
      ],
      "this is a Taskfile.yml: build, then test", ["build: task build", "test: task test"]
    ),
    (
      ["hugo.toml": ""], "this is a Hugo site (hugo.toml): build, then serve .build/hugo",
      ["build: hugo --baseURL / -d .build/hugo"]
    ),
    (
      ["mkdocs.yml": ""], "this is an MkDocs site (mkdocs.yml): build, then serve .build/mkdocs",
      ["build: mkdocs build -q -d .build/mkdocs"]
    ),
    (
      ["_config.yml": ""], "this is a Jekyll site (_config.yml): build, then serve .build/jekyll",
      ["build: jekyll build -q -d .build/jekyll"]
    ),
    (["index.html": ""], "this is a page (index.html): serve .", []),
    (
      ["App.sln": "", "App.csproj": ""], "this is a .NET project (App.sln): build, then test",
      ["build: dotnet build", "test: dotnet test --no-build"]
    ),
    // Without a name, these are ambiguous.
    (
      ["My App.sln": "", "My App.slnx": ""],
      "this is a .NET project (My App.sln): build, then test",
      ["build: dotnet build 'My App.sln'", "test: dotnet test --no-build 'My App.sln'"]
    ),
    (
      ["App.sln": "", "docker-compose.dcproj": ""],
      "this is a .NET project (App.sln): build, then test",
      ["build: dotnet build App.sln", "test: dotnet test --no-build App.sln"]
    ),
    (
      ["App.csproj": "<Project/>"], "this is a .NET project (App.csproj): build",
      ["build: dotnet build"]
    ),
    (
      ["Tests.fsproj": "Include=\"Microsoft.NET.Test.Sdk\""],
      "this is a .NET project (Tests.fsproj): build, then test",
      ["build: dotnet build", "test: dotnet test --no-build"]
    ),
    (["deno.json": "{}"], "this is a Deno project (deno.json): test", ["test: deno test"]),
    (
      ["deno.jsonc": "{ /* x */ \"tasks\": { \"build\": \"x\", \"test\": \"y\" } }"],
      "this is a Deno project (deno.jsonc): build, then test",
      ["build: deno task build", "test: deno task test"]
    ),
    // What watches, or leads to what others see.
    (
      [
        "deno.json":
          #"{"tasks": {"test": "deno test --watch", "build": "deno task a", "a": "deno task deploy"}}"#
      ],
      "this is a Deno project (deno.json): test", ["test: deno test"]
    ),
    (
      [
        "deno.json":
          #"{"tasks": {"build": {"command": "x", "dependencies": ["a"]}, "a": "deployctl && git push"}}"#
      ],
      "this is a Deno project (deno.json): test", ["test: deno test"]
    ),
    (
      ["deno.json": #"{"tasks": {"build": "deno test", "test": "deno test --watch"}}"#],
      "this is a Deno project (deno.json): build, then test",
      ["build: deno task build", "test: deno test"]
    ),
    (
      ["meson.build": "project('x')\ntest ('a', b)"],
      "this is a Meson project (meson.build): build, then test",
      [
        "build: meson setup .build/meson && meson compile -C .build/meson",
        "test: meson test -C .build/meson",
      ]
    ),
    (
      ["justfile": "set shell := ['x']\n@build:\n  x\ntest filter='': build\n  y\n"],
      "this is a justfile: build, then test", ["build: just build", "test: just test"]
    ),
    (
      ["Justfile": "check: \n  y\n"], "this is a Justfile: test", ["test: just check"]
    ),
    (
      ["Procfile": "# x\nweb: ./server -p 80\nworker:  ./worker\nrelease: x\n"],
      "this is a Procfile: web, worker", ["web: ./server -p 80", "worker: ./worker"]
    ),
    (
      ["Procfile": "web: x", "Procfile.dev": "web: y"],
      "this is a Procfile.dev: web", ["web: y"]
    ),
    (["Makefile": "app: a.c\n\tcc a.c\n"], "this is a Makefile: build", ["build: make"]),
    (
      ["GNUmakefile": "all:\ntest: all\n\t./run\n"], "this is a GNUmakefile: build, then test",
      ["build: make", "test: make test"]
    ),
    // `make` alone runs the tests.
    (["Makefile": "test:\n\t./run\n"], "this is a Makefile: test", ["test: make test"]),
    (
      ["makefile": "x: y\ncheck :\n"], "this is a makefile: test", ["test: make check"]
    ),
    // A recipe that needs an argument cannot be run.
    (
      ["justfile": "build target:\n  x\ntest *filter:\n  y\n"],
      "this is a justfile: test", ["test: just test"]
    ),
    (
      ["package.json": #"{"packageManager": "pnpm@9.1.0", "scripts": {"test": "x"}}"#],
      "this is a Node package (package.json): test", ["test: pnpm run test"]
    ),
    (
      [
        "package.json":
          #"{"devEngines": {"packageManager": {"name": "yarn"}}, "scripts": {"test": "x"}}"#
      ],
      "this is a Node package (package.json): test", ["test: yarn run test"]
    ),
    (
      ["Procfile": "\u{FEFF}web: ./server\nworker: ./worker\ndeploy-all: x\nmigrate: y\n"],
      "this is a Procfile: web, worker", ["web: ./server", "worker: ./worker"]
    ),
    (
      ["CMakeLists.txt": "project(x)"], "this is a CMake project (CMakeLists.txt): build",
      ["build: \(Self.cmake)"]
    ),
    (
      ["CMakeLists.txt": "PROJECT(x)\nINCLUDE ( CTest )"],
      "this is a CMake project (CMakeLists.txt): build, then test",
      [
        "build: \(Self.cmake)",
        "test: ctest --test-dir .build/cmake --output-on-failure",
      ]
    ),
    (
      ["CMakeLists.txt": "enable_testing()"],
      "this is a CMake project (CMakeLists.txt): build, then test",
      [
        "build: \(Self.cmake)",
        "test: ctest --test-dir .build/cmake --output-on-failure",
      ]
    ),
  ]

  private static let together: [Row] = [
    (
      ["Package.swift": "", "package.json": #"{"scripts": {"build": "x", "test": "y"}}"#],
      "this is a Swift package (Package.swift) and a Node package (package.json), each with its own "
        + "tasks and sources: swift-build; node-build, then node-test",
      ["swift-build: swift build", "node-build: npm run build", "node-test: npm run test"]
    ),
    (
      ["Makefile": "all: b", "pyproject.toml": "pytest"],
      "this is a Python project (pyproject.toml) and a Makefile, each with its own tasks and sources: "
        + "python-test; make-build",
      ["python-test: python3 -m pytest", "make-build: make"]
    ),
    // A Makefile beside a compiler's own project file usually calls that.
    (
      ["Makefile": "test:\n\tcargo test", "Cargo.toml": ""],
      "this is a Rust project (Cargo.toml): build, then test; not used: a Makefile",
      ["build: cargo build", "test: cargo test"]
    ),
    (
      ["Package.swift": "", "Cargo.toml": "", "pytest.ini": ""],
      "this is a Swift package (Package.swift), a Rust project (Cargo.toml) and a Python project "
        + "(pytest.ini), each with its own tasks and sources: swift-build; cargo-build, then cargo-test; python-test",
      [
        "swift-build: swift build", "cargo-build: cargo build", "cargo-test: cargo test",
        "python-test: python3 -m pytest",
      ]
    ),
    (
      ["Makefile": "all: lint test\ntest:\n\tbundle exec rspec\n", "Gemfile": "", ".rspec": ""],
      "this is a Ruby project (Gemfile): test; not used: a Makefile", ["test: bundle exec rspec"]
    ),
    (
      ["Makefile": "test:\n\tpytest --cov=x\n", "pyproject.toml": "pytest"],
      "this is a Python project (pyproject.toml): test; not used: a Makefile",
      ["test: python3 -m pytest"]
    ),
    // A generator is only a part.
    (
      ["Makefile": "app: app.c\n\tpython3 gen.py\n\tcc app.c\n", "tests/test_a.py": ""],
      "this is a Python project (tests/test_a.py) and a Makefile, each with its own tasks and sources: "
        + "python-test; make-build", ["python-test: python3 -m pytest", "make-build: make"]
    ),
    // Unless make compiles sources itself, and Cargo only a part.
    (
      ["Makefile": "a.o: a.c\n\t$(CC) -c a.c", "a.c": "", "Cargo.toml": ""],
      "this is a Makefile: build; not used: a Rust project (Cargo.toml)", ["build: make"]
    ),
    (
      ["Makefile": "a.o: a.c\n\t$(CC) -c a.c", "a.c": "", "CMakeLists.txt": ""],
      "this is a CMake project (CMakeLists.txt): build; not used: a Makefile",
      ["build: \(Self.cmake)"]
    ),
    // Two build systems for the same sources: the first one.
    (
      ["pom.xml": "", "build.gradle": ""],
      "this is a Gradle project (build.gradle): build, then test; not used: "
        + "a Maven project (pom.xml)",
      ["build: gradle assemble", "test: gradle test"]
    ),
    (
      ["CMakeLists.txt": "", "meson.build": "", "Makefile": "all:", "justfile": "build:\n"],
      "this is a CMake project (CMakeLists.txt): build; not used: a Meson project (meson.build), "
        + "a Makefile and a justfile",
      ["build: \(Self.cmake)"]
    ),
    // A file of commands is not used beside a project.
    (
      ["Procfile": "web: x", "package.json": #"{"scripts": {"test": "y"}}"#],
      "this is a Node package (package.json): test; not used: a Procfile",
      ["test: npm run test"]
    ),
    // Tests that watch by themselves would never end.
    (
      [
        "package.json":
          #"{"scripts": {"build": "app-tool build", "test": "npm run test:all", "test:all": "env-set A=1 react-scripts test --env=x"}}"#
      ],
      "this is a Node package (package.json): build", ["build: npm run build"]
    ),
    (
      ["package.json": #"{"scripts": {"build": "ng build", "test": "ng test --watch=false"}}"#],
      "this is a Node package (package.json): build, then test",
      ["build: npm run build", "test: npm run test"]
    ),
    (
      ["package.json": #"{"scripts": {"test": "CI=true react-scripts test"}}"#],
      "this is a Node package (package.json): test", ["test: npm run test"]
    ),
    // Arguments and variables are those of the scripts that are called.
    (
      [
        "package.json":
          #"{"scripts": {"test": "npm run t -- --watchAll=false", "t": "react-scripts test"}}"#
      ],
      "this is a Node package (package.json): test", ["test: npm run test"]
    ),
    (
      ["package.json": #"{"scripts": {"test": "yarn t --watch=false", "t": "ng test"}}"#],
      "this is a Node package (package.json): test", ["test: npm run test"]
    ),
    (
      [
        "package.json":
          #"{"scripts": {"test": "CI=true npm run t", "t": "A=1 react-scripts test"}}"#
      ],
      "this is a Node package (package.json): test", ["test: npm run test"]
    ),
    (
      [
        "package.json":
          #"{"scripts": {"build": "x", "test": "CI=true npm run t", "t": "CI= react-scripts test"}}"#
      ],
      "this is a Node package (package.json): build", ["build: npm run build"]
    ),
    (
      [
        "Makefile": "test:\n\tnpm test -- --watch=false\n",
        "package.json": #"{"scripts": {"test": "ng test"}}"#,
      ],
      "this is a Makefile: test", ["test: make test"]
    ),
    // A colon is a part of a name, and what is internal cannot be run.
    (
      [
        "Taskfile.yml":
          "version: '3'\ntasks:\n  test:unit:\n    x\n  'build':\n    desc: x\n  check:\n    internal: true\n"
      ],
      "this is a Taskfile.yml: build", ["build: task build"]
    ),
    (
      ["Procfile": "web: x", "justfile": "test:\n"],
      "this is a justfile: test; not used: a Procfile", ["test: just test"]
    ),
  ]

  @Test(arguments: alone + together)
  func `a project is detected by its files`(
    files: [String: String], summary: String, tasks: [String]
  ) throws {
    let directory = try projectDirectory(files)
    let found = try #require(DetectedProject(directory.project))
    #expect(found.summary == summary)
    #expect(found.project.tasks.map { "\($0.name): \(ProjectText.shown($0.run))" } == tasks)
  }

  @Test(arguments: alone + together)
  func `a detected project that is written as a file is read as the same project`(
    files: [String: String], summary: String, tasks: [String]
  ) throws {
    let directory = try projectDirectory(files)
    let found = try #require(DetectedProject(directory.project))
    let text = ProjectText.file(found.project)
    var project = found.project
    (project.sources, project.detectedFiles) = ([], [])
    #expect(try readProject(text) == project)
    // Strict JSON, which Foundation reads only without the extensions of JSON5.
    let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    #expect(object?["$schema"] == nil)
  }

  @Test(
    arguments: [
      [:], ["README.md": ""], ["Package.swift/": ""], ["package.json": "{"],
      ["package.json": #"{"scripts": {"start": "x"}}"#], ["Gemfile": ""],
      ["justfile": "deploy:\n"], ["Procfile": "no process"], ["Procfile": "release: x"],
      ["justfile": "build target:\n  x\n"], ["Rakefile": "task default: :deploy"],
      ["Rakefile": "task :default do"], ["composer.json": "{}"], ["config.toml": ""],
      ["config.toml": "base_url = \"https://a\"", "content/": ""], ["noxfile.py": "def publish(s)"],
      ["composer.json": #"{"scripts": {"test": ["phpunit", "@deploy"]}}"#],
      ["composer.json": #"{"scripts": {"test": "@a", "a": "@php artisan serve"}}"#],
      ["Taskfile.yml": "tasks:\n  build:\n    watch: true\n    cmds: [x]\n"],
      ["Taskfile.yml": "tasks:\n  build: { cmds: [x], watch: true }\n"],
      ["requirements.txt": "flask"], ["pyproject.toml": "[project]"], ["setup.py": ""],
      ["tox.ini": "[testenv]\ncommands = twine upload \\\n  dist/*\n"],
      ["_config.yml": "", "_toc.yml": ""], ["Rakefile": "task :testflight do"],
      ["Rakefile": "Rake::TestTask.new\ntask test: [:deploy]"],
      ["Rakefile": "task :spec => %w[assets upload]"],
      ["index.html": "", "package.json": #"{"scripts": {"dev": "vite"}}"#],
      ["Taskfile.yml": "vars:\n  build: x\ntasks:\n  deploy:\n    desc: x\n"],
      ["package.json": #"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#],
    ] as [[String: String]])
  func `nothing is detected without a known file and task`(files: [String: String]) throws {
    let directory = try projectDirectory(files)
    #expect(DetectedProject(directory.project) == nil)
  }

  @Test func `a script that compares times is stopped by a save`() throws {
    let directory = try TemporaryDirectory()
    let scripts = #"{"scripts": {"build": "npm run js", "js": "npx tsc -b", "test": "tsc -p ."}}"#
    try directory.write(scripts, to: "package.json")
    let project = try #require(DetectedProject(directory.project)).project
    #expect(project.tasks.map(\.onBusy) == [.restart, nil])
  }

  @Test func `each of several kinds watches its own sources`() throws {
    let directory = try projectDirectory(["Package.swift": "", "go.mod": ""])
    let project = try #require(DetectedProject(directory.project)).project
    #expect(project.tasks.map(\.name) == ["swift-build", "go-build", "go-test"])
    #expect(project.tasks[0].filters.map(\.description).contains("*.swift"))
    #expect(project.tasks[1].filters.map(\.description).contains("*.go"))
    #expect(project.tasks[2].after == ["go-build"])
  }

  @Test(
    arguments: [
      // What one kind writes may be sources of another.
      (["go.mod": "", "Rakefile": ":test"], "go-build", "pkg/a/b.go", true),
      (["go.mod": "", "Rakefile": ":test"], "go-build", "log/a.json", false),
      (["go.mod": "", "Rakefile": ":test"], "ruby-test", "pkg/a.rb", false),
      // Data that tests read.
      (["go.mod": "", "Rakefile": ":test"], "ruby-test", "test/fixtures/users.yml", true),
      (["pom.xml": "", "Rakefile": ":test"], "maven-test", "src/main/resources/a.yml", true),
      (["pom.xml": "", "Rakefile": ":test"], "maven-test", "src/main/resources/a.key", true),
      (["pom.xml": "", "Rakefile": ":test"], "maven-test", "db/a.sql", true),
      (["pom.xml": "", "Rakefile": ":test"], "maven-test", "lib/a.rb", false),
      (["App.csproj": "", "go.mod": ""], "dotnet-build", "App.slnx", true),
      (["App.csproj": "", "go.mod": ""], "dotnet-build", "a.targets", true),
      (["App.csproj": "", "go.mod": ""], "dotnet-build", "a.resx", true),
      (["App.csproj": "", "go.mod": ""], "go-build", "a/testdata/a.golden", true),
      (["App.csproj": "", "go.mod": ""], "go-build", "a.png", false),
    ] as [([String: String], String, String, Bool)])
  func `of several kinds, each is started by its sources and by data`(
    files: [String: String], name: String, path: String, isIncluded: Bool
  ) throws {
    let directory = try projectDirectory(files)
    let project = try #require(DetectedProject(directory.project)).project
    let task = try #require(project.tasks.first { $0.name == name })
    let filter = PathFilter(
      base: directory.path, ignore: project.ignores + task.ignores, filter: task.filters)
    let decision = filter.decision(
      for: directory[path], isDirectory: false, below: directory.path)
    #expect(decision.isIncluded == isIncluded)
  }

  @Test(
    arguments: [
      (["Makefile": "book.pdf: book.md\n\tpandoc -o $@ book.md\n"], false),
      (["Makefile": "app: a.c\n\tcc a.c\n"], true),
      (["justfile": "build:\n  pandoc a.md\n"], false),
      (["package.json": #"{"scripts": {"build": "npx @11ty/eleventy"}}"#], false),
      (["package.json": #"{"scripts": {"build": "npm run a", "a": "vitepress build ."}}"#], false),
      (["package.json": #"{"files": ["a.md"], "scripts": {"build": "vite build"}}"#], true),
      (["Cargo.toml": "readme = 'README.md'"], true),
    ])
  func `Markdown is documentation, unless pages are made of it`(
    files: [String: String], isIgnored: Bool
  ) throws {
    let directory = try projectDirectory(files)
    let project = try #require(DetectedProject(directory.project)).project
    #expect(project.ignores.map(\.description).contains("*.md") == isIgnored)
  }

  @Test func `a wrapper is run by a shell only if it is not executable`() throws {
    let directory = try projectDirectory(["pom.xml": "", "mvnw": ""])
    func line() throws -> String? { DetectedProject(directory.project)?.project.tasks.first?.line }
    #expect(try line() == "sh ./mvnw -q test")
    #expect(chmod("\(directory["mvnw"])", 0o755) == 0)
    #expect(try line() == "./mvnw -q test")
  }

  @Test(
    arguments: [
      (["Package.swift": ""], ".build/debug/a"), (["Cargo.toml": ""], "target/debug/a"),
      (["package.json": #"{"scripts": {"build": "x"}}"#], "node_modules/x/y.js"),
      (["package.json": #"{"scripts": {"build": "x"}}"#], "dist/y.js"),
      (["package.json": #"{"scripts": {"build": "x"}}"#], "build/y.js"),
      (["test_a.py": ""], "pkg/__pycache__/a.pyc"), (["test_a.py": ""], "build/lib/a.py"),
      (["CMakeLists.txt": ""], ".build/cmake/Makefile"), (["CMakeLists.txt": ""], "build/x"),
      (["Makefile": "app: a.c"], "app"), (["Makefile": "app: a.c"], "src/a.o"),
      (["Makefile": "all:"], "build/x"), (["build.gradle": ""], "app/build/classes/A.class"),
      (["pom.xml": "", "app/pom.xml": ""], "app/target/A.class"),
      (["App.csproj": ""], "src/App/obj/a.dll"),
      (["App.csproj": ""], "src/App/bin/Debug/net9.0/App.dll"), (["mix.exs": ""], "deps/a/b.ex"),
      (["build.zig": ""], "zig-out/bin/a"), (["meson.build": ""], ".build/meson/a"),
      (["Rakefile": ":test"], "coverage/index.html"), (["Procfile": "web: x"], "log/web"),
      (["Procfile": "web: x"], "data/web.pid"),
    ] as [([String: String], String)])
  func `files that its tools write are ignored`(
    files: [String: String], product: String
  ) throws {
    let directory = try projectDirectory(files)
    let project = try #require(DetectedProject(directory.project)).project
    let filter = PathFilter(base: directory.path, ignore: project.ignores)
    #expect(
      !filter.decision(for: directory[product], isDirectory: false, below: directory.path)
        .isIncluded)
    #expect(
      filter.decision(for: directory["source.c"], isDirectory: false, below: directory.path)
        .isIncluded)
  }

  @Test func `every kind of project is detected by some row`() {
    let rows = Self.alone.flatMap(\.0.keys)
    for kind in ProjectDetection.kinds {
      let endings =
        kind.files.map { String($0.drop { $0 != "*" }.dropFirst()) }
        + kind.files.filter { !$0.includes("*") }
      #expect(rows.contains { row in endings.contains { row.hasSuffix($0) } }, "\(kind.name)")
    }
  }

  @Test func `the processes of a Procfile are services that run side by side`() throws {
    let directory = try projectDirectory(["Procfile": "web: x\nworker: y"])
    let project = try #require(DetectedProject(directory.project)).project
    #expect(project.tasks.allSatisfy { $0.isService && $0.after.isEmpty && $0.watched == ["."] })
  }

  @Test func `CMake uses Ninja where it is installed, but not in a directory of make`() throws {
    let directory = try projectDirectory(["CMakeLists.txt": ""])
    let place = ProjectDirectory(path: directory.path) { $0 == "ninja" }
    func build() throws -> Project.Run? { DetectedProject(place)?.project.tasks.first?.run }
    #expect(
      try build()
        == .line(
          "[ -f .build/cmake/build.ninja ] || cmake -S . -B .build/cmake -G Ninja "
            + "&& cmake --build .build/cmake"))
    try directory.makeDirectories(".build/cmake")
    try directory.write(to: ".build/cmake/Makefile")
    #expect(try build() == .line(Self.cmake))
  }

  @Test(
    arguments: [
      ("Cargo.toml", "[dependencies]\ncore = { path = \"../core\" }\n"),
      ("Cargo.toml", "[dependencies.core]\npath = '../core'\npath = \"../core\"\n"),
      ("go.mod", "module x\nreplace y => ../core\n"),
      ("go.mod", "module x\nreplace y => ../core // note\n"),
      ("package.json", #"{"scripts": {"test": "x"}, "dependencies": {"a": "file:../core"}}"#),
    ])
  func `directories beside the project that it is made from are watched`(
    _ name: String, _ text: String
  ) throws {
    let directory = try projectDirectory(["member/\(name)": text, "core/a": ""])
    let place = ProjectDirectory(path: directory["member"])
    let project = try #require(DetectedProject(place)).project
    #expect(project.tasks.first?.watched == [".", "../core"])
    // One that does not exist is not.
    try directory.write(text.replacingOccurrences(of: "core", with: "none"), to: "member/\(name)")
    #expect(DetectedProject(place)?.project.tasks.first?.watched == ["."])
  }

  @Test func `the lock file of a new Rust package starts no second round`() throws {
    let directory = try projectDirectory(["Cargo.toml": ""])
    func ignored() -> [String] {
      DetectedProject(directory.project)?.project.ignores.map(\.description) ?? []
    }
    #expect(ignored().contains("/Cargo.lock"))
    try directory.write(to: "Cargo.lock")
    #expect(!ignored().contains("/Cargo.lock"))
  }

  @Test func `a site is made from its text, and its result starts nothing`() throws {
    let directory = try projectDirectory(["mkdocs.yml": ""])
    let project = try #require(DetectedProject(directory.project)).project
    #expect(project.ignores.isEmpty)
    // It is in a directory that is ignored anyway, whatever the configuration names.
    #expect(project.tasks.first?.ignores.isEmpty == true)
    #expect(project.pages.map(\.served) == [".build/mkdocs"])
    #expect(project.pages.first?.after == ["build"])
  }

  @Test func `what else there is to know is said in notes`() throws {
    let directory = try projectDirectory([
      "package.json":
        #"{"scripts": {"build": "vite build", "dev": "vite", "lint": "eslint ."}}"#,
      "nodemon.json": #"{"exec": "node a.js"}"#,
    ])
    #expect(
      DetectedProject(directory.project)?.notes == [
        "also: npm run lint; to run one: watchrun npm run lint",
        "npm run dev watches by itself, and needs no watchrun",
        "npm is not installed, and the tasks need it; install it",
        "nodemon.json is for nodemon and not read here; write its exec, as in: watchrun -r node app.js",
      ])
    let processes = try projectDirectory(["Procfile": "web: x", "Procfile.dev": "web: y"])
    #expect(
      DetectedProject(processes.project)?.notes == [
        "Procfile is not used; to take it: watchrun --config Procfile"
      ])
    let web = try projectDirectory([
      "package.json": #"{"scripts": {"build": "x", "start": "vite", "test": "ng test"}}"#
    ])
    #expect(
      DetectedProject(ProjectDirectory(path: web.path) { _ in true })?.notes == [
        "npm run start, npm run test watch by themselves, and need no watchrun"
      ])
    let recipes = try projectDirectory(["justfile": "test:\n"])
    #expect(
      DetectedProject(recipes.project)?.notes == [
        "just is not installed, and the tasks need it; install it: https://just.systems"
      ])
  }

  @Test(
    arguments: [
      (
        ["Cargo.toml": "", "justfile": "build:\n  x\ntest:\n  y\n"],
        ["justfile is not used; to take it: watchrun 'just build && just test'"]
      ),
      (
        ["go.mod": "", "Makefile": "test:\n\tgo test\n", "Taskfile.yml": "tasks:\n  build:\n"],
        [
          "Makefile is not used; to take it: watchrun make test",
          "Taskfile.yml is not used; to take it: watchrun task build",
        ]
      ),
      (
        ["Gemfile": "", ".rspec": "", "Procfile": "web: a", "Procfile.dev": "web: b"],
        [
          "Procfile.dev is not used; to take it: watchrun --config Procfile.dev"
        ]
      ),
      (["Cargo.toml": "", "index.html": "", "mkdocs.yml": ""], []),
      (
        ["go.mod": "", "process-compose.yaml": "", "mprocs.yaml": ""],
        ForeignFile.all.filter { ["process-compose.yaml", "mprocs.yaml"].contains($0.name) }.map {
          "\($0.name) is for \($0.tool) and not read here; \($0.remedy)"
        }
      ),
    ] as [([String: String], [String])])
  func `files that are not used are named with what to type`(
    files: [String: String], notes: [String]
  ) throws {
    let directory = try projectDirectory(files)
    #expect(DetectedProject(directory.project)?.unusedFiles == notes)
  }
}
