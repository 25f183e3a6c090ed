/// What the command line asks for.
enum Options: Equatable {
    case help
    case serve(fixtures: String?)
    case run(RunOptions)

    struct RunOptions: Equatable {
        /// All, if none is named.
        var topics: [Topic] = []
        /// "ours", "curl", "wget" or commands; ours, if none is named.
        var clients: [String] = []
        /// Part of the names of the vectors that are wanted.
        var name: String?
        var isJSON = false
        var fixtures: String?
    }

    /// What is wrong with the command line, in words.
    struct Fault: Error, Equatable {
        var what: String
    }

    init(_ arguments: [String]) throws(Fault) {
        var rest = arguments[...]
        switch rest.popFirst() {
        case "help", "--help", "-h": self = .help
        case "serve": self = .serve(fixtures: try Self.fixtures(&rest))
        case "run": self = .run(try RunOptions(&rest))
        case nil: throw Fault(what: "say what to do: serve or run")
        case let word?: throw Fault(what: "\"\(word)\" is neither serve nor run")
        }
    }

    private static func fixtures(_ rest: inout ArraySlice<String>) throws(Fault) -> String? {
        var fixtures: String?
        while let word = rest.popFirst() {
            guard word == "--fixtures" else { throw Fault(what: "serve knows no \"\(word)\"") }
            fixtures = try value(of: word, &rest)
        }
        return fixtures
    }

    fileprivate static func value(of option: String, _ rest: inout ArraySlice<String>) throws(Fault) -> String
    {
        guard let value = rest.popFirst() else { throw Fault(what: "\(option) needs a value behind it") }
        return value
    }

    static let usage = """
        tls-fixtures serve [--fixtures FOLDER]
            Starts every server of the fixtures on loopback, prints a JSON map of them, and serves until it is
            stopped (SIGINT, SIGTERM) or its standard input, if that is a pipe, is closed.

        tls-fixtures run [TOPIC ...] [--client CLIENT] ... [--name TEXT] [--json] [--fixtures FOLDER]
            Runs the vectors (response, request, decoding, names, handshake, routes; all of them if none is named) and
            prints what failed, a table, and `N passed, N failed`; ends with 0 if nothing failed, else with 1.
            --client  ours (the default), curl, wget, or a shell command with placeholders: {url}, {host},
                      {port}, {address} (where to connect), {addresses} (all, with commas), {ca} (the only root
                      to trust), {proxy} (the port of a proxy on 127.0.0.1 that leads to that address). May be
                      given several times.
            --name    only vectors with that in their name
            --json    one JSON object a line
            --fixtures  the folder with `vectors` and `certificates`; else `Fixtures` is looked for around the
                      current folder and around this program

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
                    throw Options.Fault(what: "\"\(word)\" is no topic (\(known)) and no option of run")
                }
                topics.append(topic)
            }
        }
        for client in clients where client.isEmpty { throw Options.Fault(what: "--client needs a command") }
    }
}
