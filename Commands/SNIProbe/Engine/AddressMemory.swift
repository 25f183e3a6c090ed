internal import DirectCore
internal import DirectHTTP

/// What the run has learned of addresses: how long they take to answer, and what they serve without a name,
/// as far as a whole series of handshakes has shown that they always do.
final class AddressMemory: Sendable {
    /// An address, and what else is offered there.
    struct Key: Hashable {
        fileprivate let address: Endpoint
        fileprivate let offersHTTP: Bool
    }

    /// An address that has given two answers has `nil`: nothing is proven of it any more.
    private let defaults = Locked<[Key: [UInt8]?]>([:])
    private let longest = Locked<[Endpoint: UInt64]>([:])
    private static let most = 4096

    /// Whether the answer is the one that is known. Another one ends the proof.
    func holdsDefault(_ answer: [UInt8]?, of key: Key) -> Bool {
        guard let answer else { return false }
        return defaults.withLock { answers in
            guard let known = answers[key] else { return false }
            if known != answer { answers[key] = .some(nil) }
            return known == answer
        }
    }

    /// Notes what each handshake of a series has got; `nil` for different answers.
    func noteDefault(_ answer: [UInt8]?, of key: Key) {
        defaults.withLock { answers in
            if answers.count >= Self.most { answers.removeAll(keepingCapacity: true) }
            let isOther = answers[key].map { $0 != answer } ?? false
            answers.updateValue(isOther ? nil : answer, forKey: key)
        }
    }
}

extension AddressMemory {
    /// The nanoseconds of the slowest handshake that was answered; `nil` for none.
    func slowest(at address: Endpoint) -> UInt64? { longest.withLock { $0[address] } }

    func note(_ handshakes: [Handshake], at address: Endpoint) {
        guard let time = handshakes.filter({ $0.answer != nil }).map(\.nanoseconds).max() else { return }
        longest.withLock { longest in
            if longest.count >= Self.most { longest.removeAll(keepingCapacity: true) }
            longest[address] = max(time, longest[address] ?? 0)
        }
    }
}

extension Handshake {
    /// The time of the connection and the handshake.
    var nanoseconds: UInt64 { ((tcpTime ?? .zero) + (tlsTime ?? .zero)).clampedNanoseconds }

    /// The hash of the certificate, or none for a refusal; `nil` if it says nothing of what is set up.
    var answer: [UInt8]? {
        switch outcome {
        case .success(let served): served.chain.leaf?.summary.sha256
        case .failure(let failure): failure.isRejection ? [] : nil
        }
    }
}

extension Probe {
    var endpoint: Endpoint { Endpoint(address, port: port) }

    /// The key of what the address serves without a name.
    var defaultKey: AddressMemory.Key { .init(address: endpoint, offersHTTP: target.url != nil) }
}
