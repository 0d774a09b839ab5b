import Foundation
import Greeting

// Goes on, as a server does.
print(greeting(for: CommandLine.arguments.dropFirst().joined(separator: " and ")))
fflush(nil)
while true { sleep(1000) }
