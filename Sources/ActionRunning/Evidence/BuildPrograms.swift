/// The build tools that decide by modification times which files are out of date.
///
/// What they make of a file that is saved after they have read it is newer than the save, so that they take it for
/// up to date, in each run that follows, unless they are stopped by the save. That does no harm: make and ninja remove
/// what they have not finished, and SCons makes it again. A program that leaves it half-written, so that it looks new,
/// does not belong here. GNU make looks whether a child has changed its target as soon as it has sent it the signal, so
/// it is suspended until the child has ended (`ProcessGroup.send`).
///
/// They are found among the processes of a run, whatever has started them: a shell line, a script, another build
/// tool.
enum BuildPrograms {
  /// Their names as the kernel keeps them, in lines. `cmake --build` and `meson compile` run one of them.
  static let names: StaticString = """

    make
    gmake
    bmake
    remake
    ninja
    ninja-build
    scons

    """
}
