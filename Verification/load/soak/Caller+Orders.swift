import DirectHTTP

extension Caller {
    /// The request of a kind, to a server that can answer it.
    func order(of kind: Kind, _ chance: inout Chance) -> Order {
        switch kind {
        case .get, .cancel, .deadline, .slow, .drop: return read(kind, by: &chance)
        case .drip:
            return get(
                "drip",
                from: peer(.drip, by: &chance),
                oneOf: settings.blobs.upTo(40_000),
                by: &chance
            )
        case .busy:
            return get(
                "busy",
                from: peer(.busy, by: &chance),
                oneOf: settings.blobs.upTo(40_000),
                by: &chance
            )
        case .fresh:
            guard let client = try? Clients.client(settings, { _ in }) else { fail("no client") }
            let order = read(.get, by: &chance)
            return Order(client: client, request: order.request, expected: order.expected)
        case .redirect: return redirect(&chance)
        case .away: return away(&chance)
        case .upload: return upload(&chance)
        case .refuse: return refused(&chance)
        }
    }

    private func read(_ kind: Kind, by chance: inout Chance) -> Order {
        let feature = chance.pick([Peer.Feature.blob, .blob, .cached, .cached, .gzip, .chunked])
        let blobs = kind == .slow ? settings.blobs.upTo(400_000) : settings.blobs.all
        var order = get(feature.rawValue, from: peer(feature, by: &chance), oneOf: blobs, by: &chance)
        if kind == .slow { order.pause = .milliseconds(2) }
        order.leavesBody = kind == .drop
        return order
    }

    private func get(_ path: String, from peer: Peer, oneOf blobs: [Blob], by chance: inout Chance) -> Order {
        let blob = peer.content.isEmpty ? chance.pick(blobs) : settings.blobs.named(peer.content)
        let (client, relayed) = way(to: peer, &chance)
        let request = HTTPClient.Request(.get, peer.url("/\(path)/\(blob.name)", relayed: relayed))
        var order = Order(client: client, request: request, expected: blob.bytes)
        if peer.features.contains(.nonce) { order.nonce = "\(chance.next())" }
        return order
    }

    private func redirect(_ chance: inout Chance) -> Order {
        let peer = peer(.redirect, by: &chance)
        return get(
            "redirect/\(1 + chance.below(4))/blob",
            from: peer,
            oneOf: settings.blobs.upTo(400_000),
            by: &chance
        )
    }

    /// A redirect to another server. The nonce is not sent there.
    private func away(_ chance: inout Chance) -> Order {
        let target = peer(.cached, by: &chance, scheme: "https")
        var order = get(
            "away/\(target.authority(relayed: false))/blob",
            from: peer(.away, by: &chance),
            oneOf: settings.blobs.upTo(400_000),
            by: &chance
        )
        order.nonce = nil
        return order
    }

    private func upload(_ chance: inout Chance) -> Order {
        let peer = peer(.sum, by: &chance)
        let blob = chance.pick(settings.blobs.all)
        let (client, relayed) = way(to: peer, &chance)
        var request = HTTPClient.Request(.post, peer.url("/sum", relayed: relayed))
        request.body = body(blob, by: &chance)
        let receipt = Array("\(blob.receipt) \(peer.host)".utf8)
        return Order(client: client, request: request, expected: receipt, nonce: "\(chance.next())")
    }

    private func body(_ blob: Blob, by chance: inout Chance) -> RequestBody {
        let pieces = Pieces(bytes: blob.bytes, length: chance.pick([700, 16_384, 100_000]))
        let length = UInt64(blob.bytes.count)
        switch chance.below(4) {
        case 0: return .bytes(blob.bytes)
        case 1: return .replayable(length: length) { pieces }
        case 2: return .replayable { pieces }
        default: return .stream(pieces, length: length)
        }
    }

    /// An upload that the server answers without reading it.
    private func refused(_ chance: inout Chance) -> Order {
        let peer = peer(.refuse, by: &chance)
        let blob = chance.pick(settings.blobs.all)
        let (client, relayed) = way(to: peer, &chance)
        let request = HTTPClient.Request(
            .post,
            peer.url("/refuse", relayed: relayed),
            body: body(blob, by: &chance)
        )
        return Order(client: client, request: request, expected: Array("too much".utf8), status: 413)
    }

    private func peer(_ feature: Peer.Feature, by chance: inout Chance, scheme: String? = nil) -> Peer {
        let able = settings.peers.filter {
            $0.features.contains(feature) && (scheme ?? $0.scheme) == $0.scheme
        }
        guard !able.isEmpty else { fail("no peer for \(feature)") }
        return chance.pick(able)
    }

    /// A client, and whether it goes through the relay. The relay's own proxies are for TLS only: bytes of
    /// plain HTTP that they corrupt would be taken for good.
    private func way(to peer: Peer, _ chance: inout Chance) -> (HTTPClient, relayed: Bool) {
        switch chance.below(peer.scheme == "https" ? 9 : 7) {
        case 0, 1: (clients.cached, chance.below(2) == 0)
        case 2: (clients.onDisk, chance.below(2) == 0)
        case 3, 4: (clients.bare, chance.below(2) == 0)
        case 5: (clients.direct, chance.below(2) == 0)
        case 6: (clients.directSOCKS, chance.below(2) == 0)
        case 7: (clients.proxied, false)
        default: (clients.socks, false)
        }
    }
}
