import SystemCalls
import Testing

@testable import ActionRunning

/// People who save at any pace beside servers, and servers that write what is watched, as
/// `LiveSimulation` knows them.
struct LiveSimulationTests {
  private typealias Server = LiveSimulation.Server

  private static let quietServers = Server.allCases.filter { !$0.writesWatchedFiles }
  private static let loopingServers = Server.allCases.filter(\.writesWatchedFiles)
  private static let gaps = [300, 500, 1000, 1200, 1900, 2500]

  @Test(arguments: quietServers, gaps)
  func `at a random pace no save is delayed`(server: LiveSimulation.Server, gap: Int) {
    for seed in 1...20 as ClosedRange<UInt64> {
      var simulation = LiveSimulation(server, seed: seed)
      simulation.save(times: 20, gap: gap, isRandom: true)
      simulation.advance(to: simulation.now + 60_000)
      #expect(simulation.delays.max() ?? 0 <= 300 + (server == .stopsSlowly ? 200 : 0))
      #expect(simulation.loops.isEmpty)
    }
  }

  @Test(arguments: quietServers, gaps)
  func `at an even pace at most one save is delayed, by 1 s`(
    server: LiveSimulation.Server, gap: Int
  ) {
    var simulation = LiveSimulation(server)
    simulation.save(times: 12, gap: gap, isRandom: false)
    simulation.advance(to: simulation.now + 60_000)
    let delayed = simulation.delays.filter { $0 > 500 }
    #expect(delayed.count <= 1 && delayed.allSatisfy { $0 < 1300 })
    let mayDelay = server == .printsOften
    #expect(mayDelay || delayed.isEmpty)
    #expect(simulation.loops.isEmpty)
  }

  @Test(arguments: loopingServers)
  func `a server that writes what is watched starts eight times, then ever more rarely`(
    server: LiveSimulation.Server
  ) {
    var simulation = LiveSimulation(server)
    simulation.advance(to: 3_600_000)
    let starts = simulation.starts
    #expect(starts.count { $0 < 30_000 } <= 8)
    let late = starts.filter { $0 > 120_000 }
    #expect(zip(late, late.dropFirst()).allSatisfy { $1 - $0 >= 60_000 })
    if server != .writesAtRequests { #expect(simulation.loops.count == 1) }
    #expect(simulation.loops.allSatisfy { !$0.isEdited && $0.path != LiveSimulation.source })
  }

  @Test(arguments: loopingServers)
  func `a save beside such a server restarts it at once`(server: LiveSimulation.Server) {
    var simulation = LiveSimulation(server)
    simulation.save(times: 12, gap: 5000, isRandom: true)
    simulation.advance(to: simulation.now + 60_000)
    #expect(simulation.delays.max() ?? 0 <= 300)
  }

  @Test func `a server that writes at each of twenty requests starts six times`() {
    var simulation = LiveSimulation(.writesAtRequests)
    simulation.advance(to: 24_500)
    #expect(simulation.starts.count <= 6)
  }
}
