internal import CommandKit
internal import DirectCore

/// The parsed command line.
enum Options: Equatable {
    case help
    case version
    /// Serves everything, or the vectors with this text in their names.
    case serve(name: String?, fixtures: String?)
    /// Serves the local badssl.
    case badssl(BadsslServer.Options)
    case run(RunOptions)
    /// Checks an adapter, with these arguments of `Fixtures/clients/check`.
    case check([String])
    /// Prints the folder of the adapters.
    case adapterPath
    /// Our own client as a program that speaks the contract of `Fixtures/clients`.
    case client

    /// The options of `run`.
    struct RunOptions: Equatable {
        /// The topics to run. If empty, all of them.
        var topics: [Topic] = []
        /// The clients to test: "ours", names of `Fixtures/clients` or shell commands. If empty, ours.
        var clients: [String] = []
        /// A part of the names of the vectors to run. `nil` selects all.
        var name: String?
        /// The rights of the vectors to run. If empty, all of them.
        var rights: [Right] = []
        /// A file with the names of vectors that are known to fail.
        var baseline: String?
        var output = Output.table
        /// The number of vectors to run at the same time. `nil` leaves it to the client.
        var jobs: Int?
        /// How many times everything is run, to compare the verdicts.
        var repetitions = 1
        var fixtures: String?

        /// What is printed.
        enum Output: Equatable {
            case table, json, junit
            /// The names of what failed.
            case failures
            /// The vectors, which are not run.
            case list
        }
    }

    typealias Fault = ArgumentReader.Fault

    /// Parses the arguments, without the name of the program.
    init(_ arguments: [String]) throws(Fault) {
        var rest = ArgumentReader(arguments[...])
        // What follows is another program's.
        let own = arguments.prefix { $0 != "--" }
        let word = own.contains("--help") || own.contains("-h") ? "help" : rest.next()
        switch word {
        case "help": self = .help
        case "--version": self = .version
        case "serve": self = try Self.serve(&rest)
        case "run": self = .run(try RunOptions(&rest))
        case "check": self = .check(Array(arguments.dropFirst()))
        case "client", "adapter-path":
            if let extra = rest.next() {
                throw Fault(what: "\(word ?? "") takes no arguments, but was given \"\(extra)\"")
            }
            self = word == "client" ? .client : .adapterPath
        case nil: throw Fault(what: "a command is missing: serve, run, check, adapter-path or client")
        case let word?:
            throw Fault(
                what:
                    "unknown command \"\(word)\"; the commands are serve, run, check, adapter-path and client"
            )
        }
    }

    private static func serve(_ rest: inout ArgumentReader) throws(Fault) -> Options {
        var (name, fixtures) = (String?.none, String?.none)
        var (isBadssl, badssl) = (false, BadsslServer.Options())
        while let word = rest.next() {
            switch word {
            case "--fixtures": fixtures = try rest.value(of: word)
            case "--name": name = try rest.value(of: word)
            case "--badssl": isBadssl = true
            case "--suffix": badssl.suffix = try domain(of: word, &rest)
            case "--listen": badssl.listen = try endpoint(of: word, &rest)
            case "--files": badssl.files = try rest.value(of: word)
            default: throw Fault(what: "unknown option \"\(word)\" of serve")
            }
        }
        if isBadssl, name == nil, fixtures == nil { return .badssl(badssl) }
        guard !isBadssl else { throw Fault(what: "--badssl needs no fixtures: it makes all it serves") }
        guard badssl == BadsslServer.Options() else {
            throw Fault(what: "--suffix, --listen and --files go with --badssl")
        }
        return .serve(name: name, fixtures: fixtures)
    }

    private static func domain(of option: String, _ rest: inout ArgumentReader) throws(Fault) -> String {
        let text = try rest.value(of: option)
        do throws(HTTPHostError) { return try DomainName(text).text } catch {
            throw Fault(what: "\(option) \(text): \(error)")
        }
    }

    private static func endpoint(of option: String, _ rest: inout ArgumentReader) throws(Fault) -> Endpoint {
        let text = try rest.value(of: option)
        do throws(AddressError) { return try Endpoint(text) } catch {
            throw Fault(what: "\(option) \(text): \(error)")
        }
    }

    static let usage = """
        tls-fixtures serve [--name TEXT] [--fixtures FOLDER]
            Starts every server of the fixtures on loopback, prints a JSON description of them, and serves until it is
            stopped (SIGINT or SIGTERM) or until its standard input is closed, if that is a pipe. With --name it
            serves the vectors with TEXT in their names one after the other, and prints what is needed to try each by
            hand, with a command for curl.

        tls-fixtures serve --badssl [--suffix badssl.test] [--listen IP:PORT] [--files FOLDER]
            Serves a local badssl behind one port: https://expired.badssl.test and so on, each certificate made
            when it is first asked for, under a root of its own, and plain HTTP. Prints the cases, the root and a
            client certificate as JSON; --files also writes root.pem and client.pem, once it serves. docs/Badssl.md
            says more.

        tls-fixtures run [TOPIC ...] [--client CLIENT] ... [--proxy COMMAND] ... [--name TEXT] [--right RIGHT,...]
                         [--baseline FILE] [--json|--junit|--failures|--list] [--jobs N] [--repeat N]
            Runs the vectors of these topics (by default all of them) and prints the failures, a table, and `N passed, N
            failed`. Exits with 0 if none failed and no adapter did, with 1 if one did, with 2 if nothing was judged.
            Another client may differ in a vector that is a choice of this package: that is counted apart. The topics:
            \(Topic.allCases.map(\.rawValue).joined(separator: ", "))
            --client  ours (the default), a name of Fixtures/clients/clients.json such as curl, or a shell command;
                      mutant, a small client of this program, or mutant:SWITCH, which breaks one rule.
                      A command without placeholders is a program that speaks the contract of
                      Fixtures/clients/README.md. One with placeholders is run once for each vector: {url}, {host},
                      {port}, {address} (the first to connect to), {addresses} (all, with commas), {ca} (the
                      only roots to trust), {proxy} (the port of a proxy on 127.0.0.1 that connects to
                      {address}). May be given several times.
            --proxy   a shell command that starts a proxy, as proxied.py beside the adapters says: it is judged by what
                      comes out of it at either end, behind a client that is known to be good
            --name    runs only the vectors with TEXT in their name
            --right   runs only the vectors of these rights: attack, must, should, choice
            --baseline  a file with names of vectors that are known to fail, one a line, as --failures prints them
                      (# begins a comment). Only what fails besides them makes the exit status 1; those that no
                      longer fail are told, and names that no vector has. In JUnit those in the file are skipped
            --json    prints one JSON object for each vector, then one with the totals
            --junit   prints a JUnit report in XML
            --failures  prints the names of the vectors that failed, and no more
            --list    prints topic, name and reference of the vectors, and runs none
            --jobs    runs this many vectors at the same time
            --repeat  runs everything N times and compares the verdicts: prints the first run as usual, then those
                      vectors whose verdict was not the same in all runs, and exits with 1 if there are any
            --fixtures  the folder with `vectors`, `certificates` and `clients`; by default the nearest `Fixtures`
                      above the current folder or above this program, or beside it

        tls-fixtures check [--verbose] [-- COMMAND | CLIENT ...]
            Runs some sixty jobs through an adapter, the command or a client of Fixtures/clients, against servers of its
            own, and says what the adapter does wrong. It needs Python 3 and openssl.

        tls-fixtures adapter-path
            Prints the folder with the adapters of other clients, from which a new one can begin, and their contract.

        tls-fixtures client
            Is this package's client as such a program: reads jobs and writes results, a line each.

        tls-fixtures --version
            Prints the versions of this program, of its OpenSSL, and of the nearest vectors.

        """
}

extension Options.RunOptions {
    fileprivate init(_ rest: inout ArgumentReader) throws(Options.Fault) {
        while let word = rest.next() {
            switch word {
            case "--client": clients.append(try rest.value(of: word))
            case "--proxy": clients.append(ClientChoice.proxyMark + (try rest.value(of: word)))
            case "--name": name = try rest.value(of: word)
            case "--fixtures": fixtures = try rest.value(of: word)
            case "--right": rights += try Self.rights(try rest.value(of: word))
            case "--baseline": baseline = try rest.value(of: word)
            case "--failures": try setOutput(.failures, word)
            case "--json": try setOutput(.json, word)
            case "--junit": try setOutput(.junit, word)
            case "--list": try setOutput(.list, word)
            case "--jobs": jobs = try Self.count(of: word, &rest)
            case "--repeat": repetitions = try Self.count(of: word, &rest)
            default:
                guard let topic = Topic(rawValue: word) else {
                    let known = Topic.allCases.map(\.rawValue).joined(separator: ", ")
                    throw Options.Fault(what: "\"\(word)\" is neither an option nor a topic (\(known))")
                }
                topics.append(topic)
            }
        }
        for client in clients where client.allSatisfy({ $0 == " " }) {
            throw Options.Fault(what: "--client needs a command")
        }
    }

    private static func rights(_ text: String) throws(Options.Fault) -> [Right] {
        try text.split(separator: ",", omittingEmptySubsequences: false).map { (word) throws(Options.Fault) in
            if let right = Right(rawValue: String(word)) { return right }
            let known = Right.allCases.map(\.rawValue).joined(separator: ", ")
            throw Options.Fault(what: "--right needs one or several of \(known), not \"\(word)\"")
        }
    }

    private static func count(
        of option: String,
        _ rest: inout ArgumentReader
    ) throws(Options.Fault) -> Int {
        let text = try rest.value(of: option)
        guard let count = Int(text), (1...1000).contains(count) else {
            throw Options.Fault(what: "\(option) needs a number from 1 to 1000, not \"\(text)\"")
        }
        return count
    }

    private mutating func setOutput(_ new: Output, _ word: String) throws(Options.Fault) {
        guard output == .table || output == new else {
            throw Options.Fault(what: "\(word) does not go with another form of output")
        }
        output = new
    }
}
