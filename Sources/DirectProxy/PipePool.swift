#if os(Linux)
internal import DirectIO

/// The pipes of a proxy, each in use by a flow only while bytes are in it. It belongs to the loop's thread.
final class PipePool {
    private var idle: [SplicePipe] = []
    private var count = 0

    /// Returns an empty pipe; `nil` if so many are in use that the user's share of the kernel's memory for
    /// pipes may be used up.
    func take() -> SplicePipe? {
        if let pipe = idle.popLast() { return pipe }
        guard count < Self.most, let pipe = SplicePipe() else { return nil }
        count += 1
        return pipe
    }

    /// Takes a pipe back, or closes one that has bytes of a tunnel that has ended.
    func give(_ pipe: SplicePipe) {
        if pipe.count == 0, idle.count < Self.mostIdle { idle.append(pipe) } else { count -= 1 }
    }

    private static let most = 256
    private static let mostIdle = 16
}
#endif
