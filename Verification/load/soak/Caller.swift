import DirectHTTP

/// One call after the other, each drawn by chance. Bodies are compared with those of the right server.
struct Caller: Sendable {
    /// The kinds of calls.
    enum Kind: String, CaseIterable {
        case get, redirect, away, upload, refuse, cancel, slow, deadline, drop, busy, fresh, drip

        /// How often of a hundred.
        var weight: Int {
            switch self {
            case .get: 31
            case .upload: 13
            case .deadline: 10
            case .cancel: 9
            case .redirect, .slow: 6
            case .drop, .away, .busy, .fresh: 5
            case .drip: 3
            case .refuse: 2
            }
        }
    }

    let settings: SoakSettings
    let clients: Clients
    let ledger: Ledger

    init(_ settings: SoakSettings, _ clients: Clients, _ ledger: Ledger) {
        self.settings = settings
        self.clients = clients
        self.ledger = ledger
    }

    func call(_ chance: inout Chance) async {
        let kind = kind(&chance)
        var order = order(of: kind, &chance)
        if kind == .deadline { order.limit = .milliseconds(20 + chance.below(400)) }
        let number = ledger.began("\(kind.rawValue) \(order.place)")
        defer { ledger.isOver(number) }
        let due = ContinuousClock.now + order.limit
        do {
            if kind == .cancel {
                try await cancelled(order, after: .milliseconds(chance.below(60)))
            } else {
                try await order.run()
            }
            ledger.succeeded(kind.rawValue)
        } catch let wrong as WrongBytes {
            ledger.gotWrong("\(kind.rawValue) \(order.place): \(wrong.what)")
        } catch {
            took(error, in: kind)
        }
        if kind != .cancel { ledger.ended("\(kind.rawValue) \(order.place)", due: due) }
    }

    private func took(_ error: any Error, in kind: Kind) {
        if kind == .deadline, let error = error as? HTTPError, case .timedOut = error.reason {
            ledger.succeeded("deadline, over in time")
        } else if kind == .cancel, error is CancellationError {
            ledger.succeeded("cancel, ended")
        } else {
            ledger.failed(description(of: error))
        }
    }

    /// Cancels the call after a while. It has to end at once, whatever it waits for.
    private func cancelled(_ order: Order, after pause: Duration) async throws {
        let task = Task { try await order.run() }
        try? await Task.sleep(for: pause)
        task.cancel()
        let due = ContinuousClock.now
        defer { ledger.ended("cancelled \(order.place)", due: due, isCancelled: true) }
        try await task.value
    }

    private func kind(_ chance: inout Chance) -> Kind {
        var left = chance.below(Kind.allCases.reduce(0) { $0 + $1.weight })
        for kind in Kind.allCases {
            left -= kind.weight
            if left < 0 { return kind }
        }
        return .get
    }
}
