internal import CommandKit
internal import DirectProxy
internal import DirectResolvers

/// What the command line asks for.
struct Options {
    var configuration = LocalProxySettings()
    /// Where reports go; `nil` for nowhere.
    var report: ReportPlace?
    var writesJSON = false
    var isQuiet = false
    /// The program to run, with its arguments.
    var program: [String] = []
    var wantsHelp = false
    var wantsVersion = false

    /// Where reports go.
    enum ReportPlace: Equatable {
        case standardError
        case file(String)
    }

    /// A mistake in the command line or in a file that it names, with the exit status for it.
    struct Mistake: Error {
        let line: String
        var status: Int32 = 64
    }

    /// Reads the words of a command line, without the command's name.
    init(_ words: [String]) throws(Mistake) {
        var entries: [String] = []
        var reader = ArgumentReader(words[...])
        do throws(ArgumentReader.Fault) {
            while let word = reader.next() {
                guard word != "--" else {
                    while let word = reader.next() { program.append(word) }
                    guard !program.isEmpty else { throw .init(what: "-- needs a program") }
                    break
                }
                let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
                guard let option = CommandOption(rawValue: parts[0]), word.hasPrefix("-") else {
                    throw .init(
                        what: word.hasPrefix("-")
                            ? "there is no option \(parts[0])"
                            : "\"\(word)\" is no option; a program comes after --"
                    )
                }
                var value = ""
                if parts.count == 2 {
                    guard option.value != nil else { throw .init(what: "\(option.rawValue) takes no value") }
                    value = parts[1]
                } else if option.value != nil {
                    value = try reader.value(of: word)
                }
                try take(option, value: value, into: &entries)
            }
        } catch {
            throw Mistake(line: error.what)
        }
        try setMap(entries)
    }

    private mutating func take(
        _ option: CommandOption,
        value: String,
        into entries: inout [String]
    ) throws(ArgumentReader.Fault) {
        switch option {
        case .resolve, .connectTo: entries.append(try MapFile.entry(option, value: value))
        case .map: try addLines(of: value, to: &entries)
        case .listen: try setListen(value)
        case .listenBeyond: configuration.listensBeyondLoopback = true
        case .open: configuration.access = .anyLocalProgram
        case .refuseOthers: configuration.others = .refused
        case .allowPrivate: configuration.vetting = nil
        case .upstream: try setUpstream(value)
        case .doh: try setResolver(value)
        case .report: report = value == "-" ? .standardError : .file(value)
        case .json: writesJSON = true
        case .quiet: isQuiet = true
        case .help: wantsHelp = true
        case .version: wantsVersion = true
        }
    }

    private func addLines(of path: String, to entries: inout [String]) throws(ArgumentReader.Fault) {
        let bytes: [UInt8]
        do throws(Files.Unreadable) {
            bytes = try Files.contents(of: path)
        } catch {
            throw .init(what: "--map \(error)")
        }
        entries += try MapFile.entries(String(decoding: bytes, as: UTF8.self), of: path)
    }

    private mutating func setMap(_ entries: [String]) throws(Mistake) {
        do throws(StaticMapError) {
            configuration.addresses = try StaticMap(curl: entries)
        } catch {
            guard case .line(let number, let fault) = error else { throw Mistake(line: "\(error)") }
            throw Mistake(line: "\"\(entries[number - 1])\": \(fault)")
        }
    }

    private mutating func setListen(_ value: String) throws(ArgumentReader.Fault) {
        // A port of 0 is the system's choice, as everywhere, and for an endpoint of this package none.
        let text = UInt16(value).map { "127.0.0.1:\($0)" } ?? value
        let place = text.hasSuffix(":0") ? String(text.dropLast(2)) : text
        do throws(AddressError) {
            configuration.listen = [try Endpoint(place)]
        } catch {
            throw ArgumentReader.Fault(
                what: "--listen \(value): \(error); take an address with a port, or a port"
            )
        }
    }

    private mutating func setUpstream(_ value: String) throws(ArgumentReader.Fault) {
        do throws(ProxyError) {
            configuration.upstream = try Proxy(value)
        } catch {
            throw ArgumentReader.Fault(what: "--proxy: \(error)")
        }
    }

    private mutating func setResolver(_ value: String) throws(ArgumentReader.Fault) {
        configuration.resolver = try DohOption.resolver(value)
    }
}
