import Glibc

/// A content that servers send and receive.
struct Blob: Sendable {
    let name: String
    let bytes: [UInt8]
    /// The reply of a server that has received all of it: the length and the SHA-256.
    let receipt: String
}

extension [UInt8] {
    /// Whether a piece is what is at a position here.
    func has(_ piece: [UInt8], at position: Int) -> Bool {
        guard position + piece.count <= count else { return false }
        let difference = piece.withUnsafeBytes { piece in
            withUnsafeBytes { all in
                guard let start = piece.baseAddress, let whole = all.baseAddress else { return Int32(0) }
                return memcmp(start, whole + position, piece.count)
            }
        }
        return difference == 0
    }
}

/// All contents, read from a folder with a list of `NAME RECEIPT` lines in it.
struct Blobs: Sendable {
    private(set) var all: [Blob] = []

    init() {}

    init(folder: String) {
        let list = String(decoding: Self.read("\(folder)/list"), as: UTF8.self)
        for line in list.split(separator: "\n") {
            guard let space = line.firstIndex(of: " ") else { fail("not a content: \(line)") }
            let name = String(line[..<space])
            let receipt = String(line[line.index(after: space)...])
            all.append(Blob(name: name, bytes: Self.read("\(folder)/blob/\(name)"), receipt: receipt))
        }
    }

    var isEmpty: Bool { all.isEmpty }

    var smallest: Blob { upTo(1024)[0] }

    func named(_ name: String) -> Blob {
        guard let blob = all.first(where: { $0.name == name }) else { fail("no content \(name)") }
        return blob
    }

    func upTo(_ length: Int) -> [Blob] { all.filter { $0.bytes.count <= length && !$0.bytes.isEmpty } }

    private static func read(_ path: String) -> [UInt8] {
        guard let file = fopen(path, "r") else { fail("cannot read \(path)") }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
        return bytes
    }
}

/// Numbers that a seed repeats (SplitMix64).
struct Chance: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }

    mutating func pick<Choice>(_ choices: [Choice]) -> Choice { choices[below(choices.count)] }
}
