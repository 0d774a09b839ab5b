import SessionControl

func waitForResults() throws {
  let client = try SessionClient(in: "/project/src")
  var request = SessionRequest(.wait, tasks: ["test"])
  request.time = .seconds(120)
  for (_, answer) in try client.ask(request) {
    print(answer.command, answer.isLate ? "still runs" : answer.isGreen ? "is green" : "is red")
    for task in answer.tasks where task.isRed { print(task.name, task.output.suffix(20)) }
  }
}

func followSession(_ client: SessionClient) throws {
  try client.follow(SessionRequest(.status)) { _, message in
    if case .event(let event) = message { print(event.kind, event.task ?? "", event.text) }
    return true
  }
}
