/// The parsed command line.
enum Options: Equatable {
    case help
    case serve(fixtures: String?)
    case run(RunOptions)

    /// The options of `run`.
    struct RunOptions: Equatable {
        /// The topics to run. If empty, all of them.
        var topics: [Topic] = []
        /// The clients to test: "ours", "curl", "wget" or shell commands. If empty, ours.
        var clients: [String] = []
        /// A part of the names of the vectors to run. `nil` selects all.
        var name: String?
        var isJSON = false
        var fixtures: String?
    }

    /// A mistake in the command line, described by a short English text.
    struct Fault: Error, Equatable {
        var what: String
    }

    /// Parses the arguments, without the name of the program.
    init(_ arguments: [String]) throws(Fault) {
        var rest = arguments[...]
        switch rest.popFirst() {
        case "help", "--help", "-h": self = .help
        case "serve": self = .serve(fixtures: try Self.fixtures(&rest))
        case "run": self = .run(try RunOptions(&rest))
        case nil: throw Fault(what: "a command is missing: serve or run")
        case let word?: throw Fault(what: "unknown command \"\(word)\"; the commands are serve and run")
        }
    }

    private static func fixtures(_ rest: inout ArraySlice<String>) throws(Fault) -> String? {
        var fixtures: String?
        while let word = rest.popFirst() {
            guard word == "--fixtures" else { throw Fault(what: "unknown option \"\(word)\" of serve") }
            fixtures = try value(of: word, &rest)
        }
        return fixtures
    }

    fileprivate static func value(of option: String, _ rest: inout ArraySlice<String>) throws(Fault) -> String
    {
        guard let value = rest.popFirst() else { throw Fault(what: "\(option) needs a value") }
        return value
    }

    static let usage = """
        tls-fixtures serve [--fixtures FOLDER]
            Starts every server of the fixtures on loopback, prints a JSON description of them, and serves until it is
            stopped (SIGINT or SIGTERM) or until its standard input is closed, if that is a pipe.

        tls-fixtures run [TOPIC ...] [--client CLIENT] ... [--name TEXT] [--json] [--fixtures FOLDER]
            Runs the vectors of these topics (response, request, decoding, names, handshake, routes, cookies, cache,
            redirect; by default all of them) and prints the failures, a table, and `N passed, N failed`. Exits with
            0 if none failed, else with 1.
            --client  ours (the default), curl, wget, or a shell command with placeholders: {url}, {host},
                      {port}, {address} (the first to connect to), {addresses} (all, with commas), {ca} (the
                      only root to trust), {proxy} (the port of a proxy on 127.0.0.1 that connects to
                      {address}). May be given several times.
            --name    runs only the vectors with TEXT in their name
            --json    prints one JSON object for each vector, then `N passed, N failed`
            --fixtures  the folder with `vectors` and `certificates`; by default the nearest `Fixtures` above the
                      current folder or above this program

        """
}

extension Options.RunOptions {
    fileprivate init(_ rest: inout ArraySlice<String>) throws(Options.Fault) {
        while let word = rest.popFirst() {
            switch word {
            case "--client": clients.append(try Options.value(of: word, &rest))
            case "--name": name = try Options.value(of: word, &rest)
            case "--fixtures": fixtures = try Options.value(of: word, &rest)
            case "--json": isJSON = true
            default:
                guard let topic = Topic(rawValue: word) else {
                    let known = Topic.allCases.map(\.rawValue).joined(separator: ", ")
                    throw Options.Fault(what: "\"\(word)\" is neither an option nor a topic (\(known))")
                }
                topics.append(topic)
            }
        }
        for client in clients where client.isEmpty { throw Options.Fault(what: "--client needs a command") }
    }
}
