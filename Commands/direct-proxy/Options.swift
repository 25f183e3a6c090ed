internal import CommandKit
internal import DirectProxy

/// What the command line asks for.
struct Options {
    var configuration = LocalProxySettings()
    /// Where reports go; `nil` for nowhere.
    var report: ReportPlace?
    var writesJSON = false
    var isQuiet = false
    /// The program to run, with its arguments, which need not be text.
    var program: [[UInt8]] = []
    var wantsHelp = false
    var wantsVersion = false
    /// The values of `--connect-to`.
    private var connects: [String] = []

    /// Where reports go.
    enum ReportPlace: Equatable {
        case standardError
        case file(String)
    }

    /// Reads the words of a command line, without the command's name.
    init(_ words: [[UInt8]]) throws(Mistake) {
        var entries: [String] = []
        var seen: Set<CommandOption> = []
        // A program that has ended reads nothing any more.
        if words.contains(Array("--".utf8)) { configuration.limits.drain = .seconds(1) }
        var reader = ArgumentReader(words.map { String(decoding: $0, as: UTF8.self) }[...])
        while let word = reader.next() {
            guard word != "--" else {
                program = Array(words.suffix(reader.count))
                guard !program.isEmpty else { throw Mistake(line: "-- needs a program") }
                break
            }
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map(String.init)
            guard let option = CommandOption(rawValue: parts[0]) else {
                throw Mistake(
                    line: word.hasPrefix("-")
                        ? "there is no option \(parts[0])"
                        : "\"\(word)\" is no option; a program comes after --"
                )
            }
            var value = ""
            if parts.count == 2 {
                guard option.value != nil else { throw Mistake(line: "\(option.rawValue) takes no value") }
                value = parts[1]
            } else if option.value != nil {
                do throws(ArgumentReader.Fault) {
                    value = try reader.value(of: word)
                } catch {
                    throw Mistake(line: error.what)
                }
                // As of an empty variable of a shell that is not quoted: the option behind it would be lost.
                if value == "--" || CommandOption(rawValue: value) != nil {
                    throw Mistake(line: "\(word) needs a value; \(word)=\(value) takes \(value) for one")
                }
            }
            guard option.value == nil || !value.isEmpty else {
                throw Mistake(line: "\(option.rawValue) needs a value, which is empty")
            }
            let isFirst = seen.insert(option).inserted
            guard isFirst || option.repeats else { throw Mistake(line: "\(option.rawValue) is given twice") }
            if option == .listen, isFirst { configuration.listen = [] }
            try take(option, value: value, into: &entries)
        }
        try setMap(entries + MapFile.entries(connectTo: connects))
    }

    private mutating func take(
        _ option: CommandOption,
        value: String,
        into entries: inout [String]
    ) throws(Mistake) {
        switch option {
        case .resolve: entries.append(value)
        case .connectTo: connects.append(value)
        case .map: try addLines(of: value, to: &entries)
        case .listen: try setListen(value)
        case .listenBeyond: configuration.listensBeyondLoopback = true
        case .open: configuration.access = .anyLocalProgram
        case .pac: configuration.servesPAC = true
        case .refuseOthers: configuration.others = .refused
        case .allowPrivate: configuration.vetting = nil
        case .upstream: try setUpstream(value)
        case .doh: configuration.resolver = try DohOption.resolver(value)
        case .limit: try LimitOption.set(value, in: &configuration.limits)
        case .report: report = value == "-" ? .standardError : .file(value)
        case .json: writesJSON = true
        case .quiet: isQuiet = true
        case .help: wantsHelp = true
        case .version: wantsVersion = true
        }
    }

    private func addLines(of path: String, to entries: inout [String]) throws(Mistake) {
        let bytes: [UInt8]
        do throws(Files.Unreadable) {
            bytes = try Files.contents(of: path)
        } catch {
            throw Mistake(line: "--map \(error)", status: 66)
        }
        entries += try MapFile.entries(bytes, of: path)
    }

    private mutating func setMap(_ entries: [String]) throws(Mistake) {
        do throws(StaticMapError) {
            configuration.addresses = try StaticMap(curl: entries)
        } catch {
            guard case .line(let number, let fault) = error else { throw Mistake(line: "\(error)") }
            throw Mistake(line: "\"\(entries[number - 1])\": \(fault)")
        }
    }

    private mutating func setListen(_ value: String) throws(Mistake) {
        // A port of 0 is the system's choice, as everywhere, and for an endpoint of this package none.
        let text = UInt16(value).map { "127.0.0.1:\($0)" } ?? value
        let place = text.hasSuffix(":0") ? String(text.dropLast(2)) : text
        do throws(AddressError) {
            configuration.listen.append(try Endpoint(place))
        } catch {
            throw Mistake(
                line: "--listen \(value): \(error); take an address with a port, or a port"
            )
        }
    }

    private mutating func setUpstream(_ value: String) throws(Mistake) {
        do throws(ProxyError) {
            configuration.upstream = try Proxy(value)
        } catch {
            throw Mistake(line: "--proxy: \(error)")
        }
    }
}
