/// Reads the body of a request, by length or in chunks.
struct UploadReader {
    private let http: HTTPWire
    private let isChunked: Bool
    private let state: State

    private final class State {
        var left: Int
        var isAtEnd = false

        init(left: Int) {
            self.left = left
        }
    }

    /// Reads the body that the head announces.
    init(_ http: HTTPWire, of head: ReceivedHead) {
        self.http = http
        isChunked = head.isChunked
        state = State(left: isChunked ? 0 : head.length ?? 0)
    }

    /// Returns at most `count` bytes; none at the end.
    func next(_ count: Int) async throws(WireError) -> [UInt8] {
        if state.left == 0 {
            if !isChunked || state.isAtEnd { return [] }
            guard let size = Int(try await http.line(), radix: 16) else { throw .broken }
            if size == 0 {
                while try await !http.line().isEmpty {}
                state.isAtEnd = true
                return []
            }
            state.left = size
        }
        let bytes = try await http.bytes(min(count, state.left))
        if bytes.isEmpty { throw .broken }
        state.left -= bytes.count
        if isChunked, state.left == 0 { _ = try await http.line() }
        return bytes
    }
}
