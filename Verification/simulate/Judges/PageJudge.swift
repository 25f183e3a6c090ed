internal import DirectHTTP
internal import DirectHTTPExtras

/// Follows the pages of a list: each is asked for where the first was, and comes in its place.
struct PageJudge {
    private let world: World
    private let number: Int
    private let host: Int
    private var call: CallPlan { world.plan.calls[number] }

    init(_ world: World, _ number: Int, _ host: Int) {
        (self.world, self.number, self.host) = (world, number, host)
    }

    /// Judges the request for a page, and returns its number.
    func judge(_ head: ReceivedHead) -> Int {
        let page = head.path.split(separator: "?").dropFirst().first.flatMap { Int($0) } ?? 0
        if host != call.host {
            world.fault("pages", "page \(page) of call \(number) is asked for at \(world.name(host))")
        }
        return page
    }

    func follow(_ request: HTTPClient.Request, with client: HTTPClient) async throws {
        var page = 0
        let start = world.calls[number].start ?? 0
        for try await response in client.pages(of: request) {
            world.kernel.count("judge: page")
            if response.headers["X-Reply"] != "\(page)" {
                world.fault(
                    "pages",
                    "call \(number) got \(response.headers["X-Reply"] ?? "none") as page \(page)"
                )
            }
            let received = ReceivedResponse(response)
            ResponseJudge(world: world, number: number, start: start, response: received).judge()
            page += 1
            world.calls[number].pageStart = world.kernel.now
        }
        CallJudge(world: world, number: number, start: start).note("\(page) pages")
        if page != call.replies.count {
            world.fault("pages", "call \(number) has got \(page) of \(call.replies.count) pages")
        }
    }
}
