/// The settings on the command line; peers/bench.h describes them.
struct Settings {
    var work = ""
    var scheme = "https"
    var host = "bench.test"
    var address = "127.0.0.1"
    var port = ""
    var path = "/small"
    var roots = "system"
    var length = -1
    var last: UInt8?
    var count = 1
    var warmUp = 0
    var inFlight = 1
    var resumes = false
    var settle = 0
    /// The size in KiB of the bodies that occupy connections while all are being opened; with 0 the pool
    /// decides how many it opens.
    var opening = 0
    var onLoop = true
    /// The number of responses that a cache holds, or of whatever else there are many, and the folder of the
    /// cache; `nil` for a cache in memory.
    var objects = 10_000
    var folder: String?
    /// The interface that the `foundation` program uses: `bridge`, `urlprotocol` or `urlsession`.
    var way = ""

    init(_ arguments: [String]) {
        guard arguments.count > 1 else { fail("usage: ours WORK key=value...") }
        work = arguments[1]
        for argument in arguments.dropFirst(2) {
            guard let equals = argument.firstIndex(of: "=") else { fail("not key=value: \(argument)") }
            set(String(argument[..<equals]), to: String(argument[argument.index(after: equals)...]))
        }
        if port.isEmpty { fail("no port") }
    }

    func url(_ path: String) -> String {
        "\(scheme)://\(host):\(port)\(path)"
    }

    private mutating func set(_ key: String, to value: String) {
        switch key {
        case "scheme": scheme = value
        case "host": host = value
        case "address": address = value
        case "port": port = value
        case "path": path = value
        case "ca": roots = value
        case "length": length = number(value)
        case "last": last = value.utf8.first
        case "count": count = number(value)
        case "warmup": warmUp = number(value)
        case "inflight": inFlight = number(value)
        case "resume": resumes = number(value) != 0
        case "settle": settle = number(value)
        case "opening": opening = number(value)
        case "objects": objects = number(value)
        case "folder": folder = value
        case "way": way = value
        case "executor": onLoop = value == "loop"
        default: fail("unknown setting: \(key)")
        }
    }

    private func number(_ text: String) -> Int {
        guard let number = Int(text), number >= 0 else { fail("not a number: \(text)") }
        return number
    }
}
