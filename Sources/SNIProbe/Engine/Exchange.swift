internal import DirectCore
internal import DirectHTTP

/// One HTTP request and its response on an open connection, with TLS or without.
///
/// It sends the head of the request, then reads until the response is complete, the deadline has passed, or the
/// connection fails. There is no request body, and `Connection: close` is sent, because the connection is not reused.
///
/// - The body of the response is hashed and counted, not stored, so its size is not limited.
/// - A connection lost while writing does not end the exchange: the server may have sent its response before it
/// closed.
/// - The buffer has room for more than the parser's limit for a head, so a full buffer means a head that is too long.
/// - `run()` never throws: a failure is stored in the outcome beside everything that was received before it.
struct Exchange {
    let connection: OpenConnection
    let url: HTTPURL
    let settings: ProbeSettings

    /// Sends the request and reads the response.
    func run() async -> ExchangeOutcome {
        let start = connection.wire.socket.loop.now
        var outcome = ExchangeOutcome()
        do throws(Stop) {
            try await send(try requestBytes())
            try await receive(into: &outcome, from: start)
        } catch {
            outcome.failure = isPlain && outcome.beginsAsTLS ? .speaksTLS : error.failure
        }
        return outcome
    }

    private var isPlain: Bool { connection.tls == nil }

    /// Ends the exchange with a failure.
    private struct Stop: Error {
        let failure: ExchangeOutcome.Failure
    }

    private func requestBytes() throws(Stop) -> [UInt8] {
        let (target, authority) = (url.targetBytes, url.authorityBytes)
        let extra: HTTPHeaders = ["User-Agent": "sni-probe/\(Version.text)", "Accept": "*/*"]
        let bound = RequestWriter.headSizeBound(
            method: settings.method,
            target: target,
            authority: authority,
            headers: settings.headers,
            extra: extra
        )
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bound, alignment: 1)
        defer { buffer.deallocate() }
        do throws(HTTP1Error) {
            let count = try RequestWriter.writeHead(
                method: settings.method,
                target: target,
                authority: authority,
                headers: settings.headers,
                extra: extra,
                framing: .none,
                close: true,
                into: buffer
            )
            return Array(buffer[..<count])
        } catch {
            throw Stop(failure: .unsendable("\(error)"))
        }
    }

    private func send(_ bytes: [UInt8]) async throws(Stop) {
        var sent = 0
        while sent < bytes.count {
            switch bytes.withUnsafeBytes({ write(UnsafeRawBufferPointer(rebasing: $0[sent...])) }) {
            case .moved(let count): sent += count
            case .again: try await takeTurn()
            case .wantsInput: try await wait(connection.wire.socket.input)
            case .wantsRoom: try await wait(connection.wire.socket.output)
            // The response may have arrived already: data that the server sent before it closed can still be read.
            case .ended: return
            case .failed(let why): throw Stop(failure: .broken(why))
            }
        }
    }

    private func receive(into outcome: inout ExchangeOutcome, from start: Instant) async throws(Stop) {
        var reader = ResponseReader()
        reader.begin(settings.method)
        let hash = RunningSHA256()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.bufferSize, alignment: 16)
        defer { buffer.deallocate() }
        var filled = 0
        while true {
            let free = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            guard !free.isEmpty else { throw Stop(failure: .broken("the head of the response is too long")) }
            switch read(into: free) {
            case .moved(let count):
                if outcome.firstByteTime == nil {
                    outcome.firstByteTime = connection.wire.socket.loop.now.since(start)
                    // The header of a TLS record with an alert or a handshake message.
                    outcome.beginsAsTLS = count > 1 && (0x15...0x16).contains(buffer[0]) && buffer[1] == 3
                }
                filled += count
            case .again:
                try await takeTurn()
                continue
            case .wantsInput:
                try await wait(connection.wire.socket.input)
                continue
            case .wantsRoom:
                try await wait(connection.wire.socket.output)
                continue
            case .ended(let isClean):
                do throws(HTTP1Error) {
                    _ = try reader.endOfInput(clean: isClean)
                } catch {
                    throw Stop(failure: .broken("\(error)"))
                }
                outcome.bodyHash = hash.finish()
                return
            case .failed(let why): throw Stop(failure: .broken(why))
            }
            if try digest(buffer, filled: &filled, reader: &reader, hash: hash, outcome: &outcome) {
                outcome.bodyHash = hash.finish()
                return
            }
        }
    }

    /// Parses the received bytes and moves the rest to the start of the buffer. Returns whether the response is
    /// complete.
    private func digest(
        _ buffer: UnsafeMutableRawBufferPointer,
        filled: inout Int,
        reader: inout ResponseReader,
        hash: RunningSHA256,
        outcome: inout ExchangeOutcome
    ) throws(Stop) -> Bool {
        var start = 0
        defer {
            if start > 0, start < filled {
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[start..<filled]))
            }
            filled -= start
        }
        while true {
            let rest = UnsafeRawBufferPointer(rebasing: buffer[start..<filled])
            let step: ResponseReader.Step
            do throws(HTTP1Error) {
                step = try reader.next(rest.assumingMemoryBound(to: UInt8.self).span)
            } catch {
                throw Stop(failure: .broken("\(error)"))
            }
            switch step.event {
            case .needsMore:
                start += step.used
                return false
            case .interim, .trailers: break
            case .head(let head): outcome.head = head
            case .content(let range):
                hash.add(UnsafeRawBufferPointer(rebasing: rest[range]))
                outcome.bodyCount += range.count
            case .end: return true
            }
            start += step.used
        }
    }

    /// The result of one read or write, with TLS or without.
    private enum Step {
        case moved(Int)
        case again
        case wantsInput
        case wantsRoom
        case ended(isClean: Bool)
        case failed(String)
    }

    private func read(into buffer: UnsafeMutableRawBufferPointer) -> Step {
        guard let tls = connection.tls else {
            guard let base = buffer.baseAddress else { return .moved(0) }
            return switch connection.wire.socket.receive(into: base, count: buffer.count) {
            case .moved(let count): .moved(count)
            case .endOfStream: .ended(isClean: true)
            case .wouldBlock: .wantsInput
            case .failed(let code): .failed(words(for: .connectionLost(errno: code)))
            }
        }
        return switch tls.read(into: buffer) {
        case .bytes(let count): .moved(count)
        case .again: .again
        case .wantsRead: .wantsInput
        case .wantsWrite: .wantsRoom
        case .closeNotify: .ended(isClean: true)
        case .truncated: .ended(isClean: false)
        case .failed(let error): .failed(words(for: error))
        }
    }

    private func write(_ bytes: UnsafeRawBufferPointer) -> Step {
        guard let tls = connection.tls else {
            guard let base = bytes.baseAddress else { return .moved(0) }
            return switch connection.wire.socket.send(base, count: bytes.count) {
            case .moved(let count): .moved(count)
            case .endOfStream, .wouldBlock: .wantsRoom
            case .failed: .ended(isClean: false)
            }
        }
        return switch tls.write(bytes) {
        case .bytes(let count): .moved(count)
        case .wantsRead: .wantsInput
        case .wantsWrite: .wantsRoom
        case .failed(.connectionLost): .ended(isClean: false)
        case .failed(let error): .failed(words(for: error))
        }
    }

    private func wait(_ point: WaitPoint) async throws(Stop) {
        if await connection.wire.wait(for: point) != nil { throw Stop(failure: .timedOut) }
    }

    private func takeTurn() async throws(Stop) {
        if await connection.wire.takeTurn() != nil { throw Stop(failure: .timedOut) }
    }

    /// The size of the read buffer. It is larger than the parser's limit for a head.
    private static let bufferSize = 80 * 1024
}

/// Returns the description of an error without its `errno` number.
private func words(for error: TLSError) -> String {
    if case .connectionLost(let code) = error, code != 0 {
        let words = errnoText(code)
        return words.prefix(1).lowercased() + words.dropFirst()
    }
    return "\(error)"
}
