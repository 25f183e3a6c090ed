internal import CommandKit
internal import TLSFixtures

/// The attempts to connect to servers that do not answer, as the system lists them.
struct OpenAttempts {
    private let ports: Set<UInt16>
    /// Those of the servers themselves, which keep their queues full.
    private let own: Set<String>

    init(at servers: [FixtureServer]) {
        ports = Set(servers.map(\.port))
        own = Set(Self.listed(at: ports))
    }

    /// Waits until none is open, and says how many still are after two seconds. An attempt that is not
    /// cancelled stays for two minutes, so the speed of the machine does not matter.
    func differences() async -> [Difference] {
        let end = ContinuousClock.now + .seconds(2)
        while true {
            let open = Self.listed(at: ports).count { !own.contains($0) }
            if open == 0 { return [] }
            if ContinuousClock.now > end {
                return Difference.between("open attempts", expected: 0, got: open)
            }
            try? await Task.sleep(for: .milliseconds(50))
        }
    }

    /// The local ends of all attempts at these ports: proc(5). There are none where the system has no such
    /// list.
    private static func listed(at ports: Set<UInt16>) -> [String] {
        ["/proc/net/tcp", "/proc/net/tcp6"].flatMap { path in
            // Bytes, since there may be thousands of lines about ended connections.
            ((try? Files.contents(of: path)) ?? []).split(separator: UInt8(ascii: "\n")).compactMap { line in
                let words = line.split(separator: UInt8(ascii: " "), maxSplits: 4)
                // SYN_SENT in the kernel's tcp_states.h.
                guard words.count > 3, words[3].elementsEqual("02".utf8) else { return nil }
                let port = UInt16(String(decoding: words[2].suffix(4), as: UTF8.self), radix: 16)
                return port.map(ports.contains) == true ? String(decoding: words[1], as: UTF8.self) : nil
            }
        }
    }
}
