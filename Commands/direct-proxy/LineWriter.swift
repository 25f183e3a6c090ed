internal import CommandKit
internal import DirectCore
internal import DirectIO

/// Lines on their way to a descriptor, which a thread of its own writes: what is told must never wait for the
/// reader, as it is told on the loop's thread.
final class LineWriter: Sendable {
    private struct State {
        var lines: [UInt8] = []
        var leftOut = 0
        var isWriting = false

        var hasNothing: Bool { lines.isEmpty && leftOut == 0 }
    }

    private let state = Locked(State())
    private let news = Condition()
    private let written = Condition()
    private let descriptor: Int32
    private let leftOut: @Sendable (Int) -> String

    /// - Parameters:
    ///   - descriptor: Where the lines go.
    ///   - leftOut: The line for so many that were left out, as they were not read in time.
    init(_ descriptor: Int32, leftOut: @escaping @Sendable (Int) -> String) throws(Mistake) {
        (self.descriptor, self.leftOut) = (descriptor, leftOut)
        let context = Unmanaged.passRetained(self).toOpaque()
        let error = startDetachedThread(named: "reports", context) { context in
            Unmanaged<LineWriter>.fromOpaque(context).takeRetainedValue().writeForEver()
        }
        if let error { throw Mistake(line: "\(error)", status: 71) }
    }

    /// Takes a line, without waiting.
    func put(_ line: String) {
        state.withLock { state in
            guard state.lines.count < Self.mostBytes else {
                state.leftOut += 1
                return
            }
            state.lines += line.utf8
            state.lines.append(0x0A)
        }
        news.signal()
    }

    /// Waits until all is written, but not for ever.
    func finish() {
        _ = state.wait(at: written, nanoseconds: Self.patience) { state, _ in
            state.hasNothing && !state.isWriting ? true : nil
        }
    }

    private func writeForEver() {
        while true {
            let next = state.wait(at: news, nanoseconds: Self.longTime) { state, _ -> [UInt8]? in
                state.isWriting = false
                guard !state.hasNothing else {
                    written.signal()
                    return nil
                }
                var bytes = state.lines
                if state.leftOut > 0 { bytes += Array((leftOut(state.leftOut) + "\n").utf8) }
                state = State(isWriting: true)
                return bytes
            }
            // Where nobody reads any more, or a disk is full, the proxy goes on.
            if let next { _ = writeAll(next, to: descriptor) }
        }
    }

    private static let mostBytes = 256 << 10
    private static let patience: UInt64 = 2_000_000_000
    private static let longTime: UInt64 = 3_600_000_000_000
}

/// Counts what may come very often, so that it is told the first time, the second, the fourth …
struct Tally: Sendable {
    private let count = Locked(0)

    /// Counts one more. Returns how many there were, if that is to be told.
    func next() -> Int? {
        count.withLock { count in
            count += 1
            return count & (count - 1) == 0 ? count : nil
        }
    }
}
