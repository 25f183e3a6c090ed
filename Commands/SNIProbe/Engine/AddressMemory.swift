internal import DirectCore
internal import DirectHTTP

/// What was learned of addresses: how long they take to answer, and what they serve without a name, as far as
/// a whole series of handshakes has shown that they always do. That counts for a minute.
final class AddressMemory: Sendable {
    /// An address, and what else is offered there.
    struct Key: Hashable {
        let address: Endpoint
        let offersHTTP: Bool
    }

    private struct Default {
        /// An address that has given two answers to one kind of handshake has `nil`: nothing is proven of it.
        let answer: [UInt8]?
        let time: Instant

        func counts(at now: Instant) -> Bool { now.since(time) < .seconds(60) }
    }

    private let defaults = Locked<[Key: Default]>([:])
    private let longest = Locked<[Endpoint: UInt64]>([:])
    private static let most = 4096

    /// Whether the answer is the one that is known. Another one ends the proof.
    func holdsDefault(_ answer: [UInt8]?, of key: Key, at now: Instant = .now) -> Bool {
        guard let answer else { return false }
        return defaults.withLock { defaults in
            guard let known = defaults[key], known.counts(at: now) else { return false }
            if known.answer != answer { defaults[key] = Default(answer: nil, time: known.time) }
            return known.answer == answer
        }
    }

    /// Notes what each handshake of a series has got; `nil` for different answers. Another answer than the
    /// one that is known counts from the end of that one's minute on: a certificate may have been renewed.
    func noteDefault(_ answer: [UInt8]?, of key: Key, at now: Instant = .now) {
        defaults.withLock { defaults in
            if defaults.count >= Self.most { defaults.removeAll(keepingCapacity: true) }
            if let known = defaults[key], known.counts(at: now), known.answer != answer {
                defaults[key] = Default(answer: nil, time: known.time)
            } else {
                defaults[key] = Default(answer: answer, time: now)
            }
        }
    }
}

extension AddressMemory {
    /// The nanoseconds of the slowest handshake that was answered; `nil` for none.
    func slowest(at address: Endpoint) -> UInt64? { longest.withLock { $0[address] } }

    /// Notes how long they took. A series without an answer says that the address gives none any more.
    func note(_ handshakes: [Handshake], at address: Endpoint) {
        let time = handshakes.filter { $0.answer != nil }.map(\.nanoseconds).max()
        guard time != nil || handshakes.count > 4 else { return }
        longest.withLock { longest in
            if longest.count >= Self.most { longest.removeAll(keepingCapacity: true) }
            longest[address] = time.map { max($0, longest[address] ?? 0) }
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
