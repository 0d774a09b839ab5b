import SystemCalls
import TestSupport
import Testing

@testable import WatchrunSettings

@Suite struct MakefileTests {
  private static let projects: [([String: String], String, [String])] = [
    // The targets of included files count, and the first one is the default goal.
    (
      ["Makefile": "all:\n-include config.mk rules.mk\n", "rules.mk": "test: all\n"],
      "this is a Makefile: build, then test", ["build: make", "test: make test"]
    ),
    (
      ["Makefile": "include deploy.mk\nall:\n", "deploy.mk": "deploy:\n\trsync\n"],
      "this is a Makefile: build", ["build: make all"]
    ),
    (["Makefile": "include *.mk\nall:\n"], "this is a Makefile: build", ["build: make all"]),
    // `make` alone would run something else.
    (
      ["Makefile": "help: ## Help\n\t@grep '##'\nbuild:\n\tcc\ntest: build\n\t./run\n"],
      "this is a Makefile: build, then test", ["build: make build", "test: make test"]
    ),
    (
      ["Makefile": ".DEFAULT_GOAL := run\nall:\n\tcc\ntest:\n\t./x\nrun:\n\t./y\n"],
      "this is a Makefile: build, then test", ["build: make all", "test: make test"]
    ),
    (
      ["Makefile": ".DEFAULT_GOAL = all\ndeploy:\n\trsync\nall:\n\tcc\n"],
      "this is a Makefile: build", ["build: make"]
    ),
    (
      ["Makefile": "up:\n\tdocker compose up\ntest:\n\t./run\n"],
      "this is a Makefile: test", ["test: make test"]
    ),
    (
      ["Makefile": "all: help\nhelp:\n\t@echo x\ntest:\n\t./run\n"],
      "this is a Makefile: test", ["test: make test"]
    ),
    // A goal that only stands for others does what they do.
    (
      ["Makefile": ".PHONY: default\ndefault: app\napp: a.c\n\tcc a.c\n"],
      "this is a Makefile: build", ["build: make"]
    ),
    (
      ["Makefile": "all: app deploy\ntest:\n\t./run\ndeploy:\n\trsync\n"],
      "this is a Makefile: test", ["test: make test"]
    ),
    (
      ["Makefile": "URL = http://x\n$(BIN): $(O:.c=.o)\n\t$(CC) $^\n"],
      "this is a Makefile: build", ["build: make"]
    ),
    (
      ["Makefile": "server:\n\tgo build -o $@ ./cmd\ncheck:\n\tgo vet\n"],
      "this is a Makefile: test", ["test: make check"]
    ),
    // Words are no commands, and a release beside a build for debugging is only another build.
    (
      [
        "Makefile":
          "all: debug release\n\techo git push\n\t# scp x\ndebug:\n\tcc\nrelease:\n\tcc -O\n"
          + "test:\n\ttwine check x; rsync -a a b; cargo publish --dry-run\n"
      ],
      "this is a Makefile: build, then test", ["build: make", "test: make test"]
    ),
    (["Makefile": "tool:\n\tgo build -o $@ ./cmd\n"], "this is a Makefile: build", ["build: make"]),
    // Options with which nothing is changed, and values that look like commands.
    (
      ["Makefile": "all:\n\tgit push -n x; astro build --mode dev\n"],
      "this is a Makefile: build", ["build: make"]
    ),
    // Headers of which a compiler writes rules, and what several targets need.
    (
      [
        "Makefile": "app: main.o\n-include main.d\n",
        "main.d": "main.o: main.c util.h\nutil.h:\n",
      ],
      "this is a Makefile: build", ["build: make"]
    ),
    (
      ["Makefile": "x: a b\na: c\nb: c\nc: d.o\n"], "this is a Makefile: build", ["build: make"]
    ),
    // What a project needs is installed in it, and copied within it.
    (
      [
        "Makefile":
          "all: install install-deps build\ninstall: venv\n\t@echo x\n\t[ -d n ] || npm ci\n"
          + "\t. venv/bin/activate && $(PIP) install -r x\n\tgo install ./...\n"
          + "install-deps:\n\tpython3 -m pip install x\nbuild:\n\tcp -r /usr/share/x build/\n"
          + "\tln -s ~/x\n\tinstall -D a $(OUT)/a 2> /dev/null\n"
      ], "this is a Makefile: build", ["build: make"]
    ),
    // Programs whose names are those of actions, and tests that a program runs.
    (
      [
        "Makefile":
          "all: program start\nprogram: a.o\nstart: a.o\n\tcc -o $@ a.o\ntest: all run\n"
          + "run:\n\t./program\ninstall: all\n\tinstall program $(DESTDIR)/bin\n"
      ], "this is a Makefile: build, then test", ["build: make", "test: make test"]
    ),
    (
      [
        "Makefile":
          "test:\n\tdocker compose up -d\n\tdocker-compose up --abort-on-container-exit\n"
          + "\tdocker compose up --build tests\n"
          + "\tmake -C x install\n"
      ], "this is a Makefile: test", ["test: make test"]
    ),
    // A definition is no part of the rule before it.
    (
      ["Makefile": "all:\n\t$(call x)\ndefine push\n\tgit push\nendef\nx = cc\n"],
      "this is a Makefile: build", ["build: make"]
    ),
  ]

  @Test(arguments: projects)
  func `only goals of a makefile that build or test are run`(
    files: [String: String], summary: String, tasks: [String]
  ) throws {
    let directory = try projectDirectory(files)
    let found = try #require(DetectedProject(ProjectDirectory(path: directory.path)))
    #expect(found.summary == summary)
    #expect(found.project.tasks.map { "\($0.name): \(ProjectText.shown($0.run))" } == tasks)
  }

  @Test(arguments: [
    "deploy:\n\trsync\n",
    "publish: a.tar\n\tscp a.tar\n", "install:\n\tcp\n",
    "clean:\n\trm -rf build\n", "up:\n\tdocker compose up\n",
    "prod:\n\t./deploy.sh $@\n", "all: push\npush:\n\tgit push\n",
    ".PHONY: \\\n  site\nsite: a.md\n\t./serve > $@\n",
    "deploy-prod: app.tar\n\tscp app.tar\n", "run: a.o\n\t./a\n",
    // What is published by another goal, or by a command of a recipe.
    "all: release\n\t@echo B\nrelease:\n\tgit push origin main\n",
    "release:\n\tgit push\nall: release\n", "all: release\nrelease:\n\t./ship\n",
    "all:\n\tscp x host:\n", "build:\n\tdocker build .\n\tdocker push x\n",
    "all: image\nimage:\n\t@$(DOCKER) push x\n",
    "all: app\napp: x.c\n\tcp x.c app\n\tgit -C . push\n", "test:\n\tnpm publish\n",
    "check: sync\nsync:\n\trsync -a . host:\n", "all:\n\tcd x && $(MAKE) upload\n",
    "all:\n\tmake ship\nship:\n\taws s3 sync . s3://x\n", "all:\n\t./tools/deploy.sh\n",
    "SEND = $(TOOL) push\nTOOL := git\nall:\n\t-$(SEND) x\n", "all:\n\tsh -c 'kubectl apply'\n",
    "STEPS = a\nSTEPS += b\nall: $(STEPS)\n\techo\nb:\n\tif true; then ssh x; fi\n",
    "A = $(B)\nB = $(A)$(A)\nall: $(A)\n\t$(A) gh release create\n",
    // `-n` is a namespace, and no value of sudo's.
    "build:\n\tdocker build .\n\tkubectl apply -n prod -f k8s/\n",
    "all:\n\thelm upgrade --install -n prod app ./chart\n", "all:\n\tsudo -n kubectl apply -f x\n",
    "all:\n\ttime -p ssh host\n", "all:\n\tkubectl apply --dry-run=none -f x\n",
    // What an interpreter runs.
    "test:\n\tpython3 deploy.py\n", "build:\n\tcc x.c && node publish.mjs\n",
    "all:\n\ttsx deploy.ts\n",
    // What never ends.
    "test:\n\tcargo watch -x test\n", "all: app.o watch\n\t./x\nwatch:\n\t./y\n",
    "build: js\njs:\n\tcd web; npx webpack -w\n", "build:\n\tdocker-compose up --build\n",
    "build:\n\tdocker compose -f x.yml up\n", "test:\n\tcypress open\n",
    "test:\n\tnpx vite build --watch\n", "build:\n\ttsc -watch -p .\n",
    // What changes the computer, or starts something.
    "all: dotfiles\ndotfiles:\n\tfor f in $(X); do ln -sfn $$PWD/$$f $(HOME)/.$$f; done\n",
    "all: etc\netc:\n\tsudo ln -s a /etc/b\n", "all: app install\ninstall:\n\tcp app $(BIN)\n",
    "all: main.hex flash\nflash: main.hex\n\t$(FLASH) $<\n", "all: x run\nrun: x\n\t./x\n",
    "all: main.hex\n\tavrdude -U main.hex\n", "test:\n\tcp x.service ~/.config 2>/dev/null\n",
    "app: a.c install\n\tcc -o app a.c\ninstall:\n\tpip install x\n\t./install.sh\n",
    "PREFIX = /usr/local\nall:\n\tinstall -m 755 app $(DESTDIR)$(PREFIX)/bin\n",
    "all:\n\tcp app $$HOME/bin\n", "all:\n\tcp app $${HOME}/bin\n",
    "build:\n\tcp -t /usr/bin app\n",
    "test:\n\tinsmod x.ko\n", "all:\n\t$(MAKE) install\ninstall:\n\tcp a $(BIN)\n",
    // What only shows something.
    "view: paper.pdf\n\tevince $<\n", "flash: main.hex\n\t$(FLASH) $<\n",
    // What is pushed by a variable or a definition.
    "export SEND := docker push\nbuild: a.o\n\t$(SEND) x\n",
    "override export SEND = git push\nbuild:\n\t$(SEND) x\n",
    "define send\n\t@# it\n\t@echo x\n\t@docker push $(1)\nendef\nall:\n\t$(call send,a)\n",
    "a:\ndefine send =\n\ngit push\nendef\nall:\n\t$(send)\n",
  ])
  func `no other goal of a makefile is run by itself`(text: String) throws {
    let directory = try projectDirectory(["Makefile": text])
    #expect(DetectedProject(ProjectDirectory(path: directory.path)) == nil)
  }

  @Test(arguments: [
    (
      "build: push\npush:\n\tx\n", "make build is not run by itself, since it runs 'make push'",
      "watchrun COMMAND"
    ),
    (
      "run:\n\t./x\ntest:\n\tscp x y:\n", "make test is not run by itself, since it runs 'scp'",
      "watchrun make run"
    ),
    (
      "test:\n\tcargo watch -x test\n",
      "make test is not run by itself, since it runs 'cargo watch'", "watchrun COMMAND"
    ),
    (
      "deploy:\n\tx\n", "Makefile has no target that builds or tests, but 'deploy'",
      "watchrun COMMAND"
    ),
  ])
  func `a goal that publishes is refused with the reason, and never suggested`(
    text: String, reason: String, remedy: String
  ) throws {
    let directory = try projectDirectory(["Makefile": text])
    let flaw = ProjectDetection.flaw(ProjectDirectory(path: directory.path))
    #expect(flaw?.reason == reason)
    #expect(flaw?.remedy == remedy)
  }

  @Test func `a script of package.json that publishes is not run, whatever it is called`() throws {
    for scripts in [
      #""test": "npm run release", "release": "npm publish""#,
      #""build": "tsc", "postbuild": "vercel --prod""#,
      #""test": "run-s a ship:*", "ship:x": "yarn publish", "a": "x""#,
      #""build": "cd . && pnpm build", "prebuild": "git push""#,
      #""build": "tsc && node deploy.js""#,
      #""build": "bash -eo pipefail scripts/build.sh""#, #""build": "sh ./scripts/build.sh x""#,
      #""build": "scripts/started""#, #""build": "npm run x -- --push", "x": "docker build .""#,
      #""test": "jest", "pretest": "tsc -w""#, #""test": "sudo jest""#,
      #""test": "jest", "posttest": "cypress open""#,
    ] {
      let script = "a=1\n# \\\ndocker buildx build \\\n  --push .\n"
      let directory = try projectDirectory([
        "package.json": "{\"scripts\": {\(scripts)}}", "scripts/build.sh": script,
        "scripts/started": "#!/bin/sh\n" + script,
      ])
      let place = ProjectDirectory(path: directory.path)
      #expect(DetectedProject(place) == nil)
      #expect(ProjectDetection.flaw(place)?.reason.includes("is not run by itself") == true)
    }
  }

  @Test(arguments: [
    ("justfile", "test: ship\nship:\n  @git push\n", "git push"),
    ("justfile", "build:\n  docker buildx build \\\n    --push .\n", "docker --push"),
    ("justfile", "all: install\ninstall:\n  npm ci\n  cp x y\n", "just install"),
    (
      "Taskfile.yml",
      "tasks:\n  build:\n    cmds:\n      - |\n        docker buildx build \\\n          --push .\n",
      "docker --push"
    ),
    (
      "Taskfile.yml",
      "tasks:\n  build:\n    cmds:\n      - >-\n        docker buildx build\n\n        --push .\n",
      "docker --push"
    ),
    ("justfile", "build:\n  just ship\nship:\n  docker push x\n", "docker push"),
    (
      "Taskfile.yml",
      "tasks:\n  test:\n    cmds:\n      - task: b\n  b:\n    internal: true\n    cmds:\n      - npm publish\n",
      "npm publish"
    ),
    ("Taskfile.yml", "tasks:\n  test:\n    deps: [b]\n  b: scp x y:\n", "scp"),
    (
      "Taskfile.yml",
      "tasks:\n  build:\n    deps:\n      - b\n  b:\n    cmds:\n      - cmd: git push\n", "git push"
    ),
    ("justfile", "test:\n  cargo watch -x test\n", "cargo watch"),
    ("justfile", "build:\n  just css\ncss:\n  tailwindcss -w\n", "tailwindcss -w"),
    ("composer.json", #"{"scripts": {"test": ["phpunit", "@deploy"]}}"#, "composer deploy"),
  ])
  func `recipes of just and tasks that publish or watch are refused`(
    file: String, text: String, command: String
  ) throws {
    let directory = try projectDirectory([file: text])
    let place = ProjectDirectory(path: directory.path)
    #expect(DetectedProject(place) == nil)
    #expect(ProjectDetection.flaw(place)?.reason.includes("since it runs '\(command)'") == true)
  }

  @Test func `a header that a compiler names in a makefile is no product`() throws {
    let directory = try projectDirectory([
      "Makefile": "app: main.c util.h\n\tcc -MMD -MP -MF app.d -o app main.c\n-include app.d\n",
      "app.d": "app: main.c util.h\nutil.h:\nold.h: ;\n",
    ])
    let text = try #require(directory.project.text(of: "Makefile"))
    #expect(Makefile(text, in: directory.project).files == ["app"])
    #expect(Makefile("a.h: b.h\nx.h: y\n\tgen\ny: z\n.PHONY: p\np:\n").files == ["x.h", "y"])
  }

  @Test func `a source that is only made when it is missing is no product`() {
    #expect(
      Makefile("all: st\nst: config.h\n\tcc\nconfig.h:\n\tcp config.def.h $@\n").files == ["st"])
  }

  @Test func `a file that nothing makes is a source, though it has a prerequisite`() {
    let rules = "paper.tex: intro.tex\npaper.pdf: a.png\nb.svg: c\nmain.o: a.h\ndoc/x.y: z\n"
    #expect(Makefile(rules).files == ["main.o"])
    #expect(
      Makefile(rules + "%.pdf: %.tex\n\tx\n.dot.svg:\n\ty\n").files == [
        "paper.pdf", "b.svg", "main.o",
      ])
  }

  @Test func `the sources of a makefile for D start it`() throws {
    for (text, isIgnored) in [("app: a.d\n\tdmd a.d\n", false), ("a.o: a.c\n\tcc a.c\n", true)] {
      let directory = try projectDirectory(["Makefile": text])
      let project = try #require(DetectedProject(directory.project)).project
      #expect(project.ignores.contains { $0.description == "*.d" } == isIgnored)
    }
  }

  @Test func `a long chain of goals ends`() {
    let text = (0..<20_000).map { "t\($0): t\($0 + 1)\n" }.joined()
    #expect(!Makefile(text).builds("t0"))
  }

  @Test func `a makefile with endless rules is read in bounded time`() throws {
    let names = (0..<Effort.count(3000, quick: 800)).map { "t\($0)" }
    let lines = names.map { "\($0): \(names[0])\n\tsudo \($0) \(names[9])\n" }.joined()
    let shared = names.joined(separator: " ") + ":\n" + String(repeating: "\techo\n", count: 3000)
    let long = "all:\n\t" + String(repeating: "sudo ", count: 20_000) + "\n"
    let wide =
      "A = \(String(repeating: "$(B) ", count: 4000))\nall:\n"
      + String(repeating: "\t$(A) $(A)\n", count: 5000)
    for text in Effort.rows([lines, shared + "all: t1\n", long, wide], quick: 3) {
      let directory = try projectDirectory(["Makefile": text])
      let before = processorTimeOfThread()
      _ = DetectedProject(ProjectDirectory(path: directory.path))
      #expect(processorTimeOfThread() - before < .seconds(60))
    }
  }

  @Test(
    arguments: [
      ("a: b\n\tx: y\n", ["a"]), ("a b: c", ["a", "b"]), ("X := y\na:", ["a"]),
      ("X ::= y", []), ("%.o: %.c\n%: y", []), (".PHONY: test\ntest:", ["test"]),
      ("# a: b", []), ("a:: b\na:: c", ["a"]), ("../x: y", ["../x"]), ("X = a:b\nX += c:d", []),
      ("define X\na: b\nendef\nc:", ["c"]), ("a: X = 1\nb: ; echo", ["b"]),
      ("a b &: c", ["a", "b"]),
      ("a: \\\n  b: c\n", ["a"]), ("$(A) $(B:.c=.o): x", ["$(A)", "$(B:.c=.o)"]),
      ("\texit\na:", ["a"]), ("export A = b:c\nifeq (a:b,c:d)\na:\nendif", ["a"]),
      ("a: # b: c\n", ["a"]), (".build/a: b", [".build/a"]), ("a\\#b: c", ["a\\#b"]),
    ] as [(String, [String])])
  func `the targets of a makefile are those with explicit rules`(
    text: String, targets: [String]
  ) {
    #expect(Makefile(text).targets == targets)
  }
}
