internal import CommandKit
internal import DirectJSON

/// The vectors and the servers they refer to, read from `Fixtures` and checked against their schema.
struct VectorFolder: Sendable {
    let vectors: [Vector]
    let servers: [ServerSetup]
    /// The path of the folder with the certificates.
    let certificates: String
    /// The path of the folder with the programs that make clients speak the contract.
    let clients: String
    /// The version of the set, which every result has. "none" if the folder has no file `vectors/VERSION`.
    let version: String

    /// Reads `vectors` and `certificates` in the folder `fixtures`.
    ///
    /// - Throws: ``VectorFaults`` with everything that is wrong with them.
    init(fixtures: String) throws(VectorFaults) {
        var reading = Reading(fixtures)
        reading.readServers()
        reading.readTopics()
        reading.checkMentions()
        guard reading.faults.isEmpty else { throw VectorFaults(faults: reading.faults) }
        vectors = reading.found.map(\.vector)
        servers = reading.servers
        certificates = "\(fixtures)/certificates"
        clients = "\(fixtures)/clients"
        let text = (try? Files.contents(of: "\(fixtures)/vectors/VERSION")) ?? []
        version = text.isEmpty ? "none" : String(decoding: text.prefix { $0 > 0x20 }, as: UTF8.self)
    }

    func vectors(of topics: [Topic]) -> [Vector] {
        vectors.filter { topics.contains($0.head.topic) }
    }

    func vector(_ name: String) -> Vector? {
        vectors.first { $0.head.name == name }
    }

    func server(_ name: String) -> ServerSetup? {
        servers.first { $0.name == name }
    }
}

/// The contents read so far and the errors found in them.
private struct Reading {
    struct Found {
        var vector: Vector
        var file: String
        var line: Int
    }

    let fixtures: String
    var servers: [ServerSetup] = []
    var found: [Found] = []
    var faults: [VectorError] = []
    private var names: [String: String] = [:]

    init(_ fixtures: String) {
        self.fixtures = fixtures
    }

    mutating func readServers() {
        for value in elements(of: "vectors/servers.json") {
            do throws(FieldError) {
                let setup = try StrictDecoder.decode(ServerSetup.self, from: value)
                guard !servers.contains(where: { $0.name == setup.name }) else {
                    throw FieldError(line: value.line, what: "there are two servers called \"\(setup.name)\"")
                }
                servers.append(setup)
            } catch {
                report(error, value: value, file: "vectors/servers.json")
            }
        }
    }

    mutating func readTopics() {
        for name in names(in: "vectors") where Files.isFolder("\(fixtures)/vectors/\(name)") {
            guard let topic = Topic(rawValue: name) else {
                let known = Topic.allCases.map(\.rawValue).joined(separator: ", ")
                let what = "is not a topic; topics are \(known)"
                faults.append(VectorError(file: "vectors/\(name)", what: what))
                continue
            }
            for file in names(in: "vectors/\(name)") where file.hasSuffix(".json") {
                read(topic, stem: String(file.dropLast(5)), file: "vectors/\(name)/\(file)")
            }
        }
    }

    /// Checks that every certificate and server that a vector refers to exists.
    mutating func checkMentions() {
        let certificates = Set(names(in: "certificates"))
        let servers = Set(self.servers.map(\.name))
        for setup in self.servers {
            for name in setup.certificateFiles where !certificates.contains(name) {
                let what = "there is no certificate \"\(name)\""
                faults.append(VectorError(file: "vectors/servers.json", vector: setup.name, what: what))
            }
        }
        for found in found {
            let mentions = found.vector.mentions
            for name in mentions.certificates where !certificates.contains("\(name).pem") {
                report(found, what: "there is no certificate \"\(name)\"")
            }
            for name in mentions.servers where !servers.contains(name) {
                report(found, what: "there is no server \"\(name)\" in servers.json")
            }
            if let twin = found.vector.head.twin, names[twin] == nil || found.vector.head.right != .attack {
                report(found, what: "\"\(twin)\" cannot be the twin: no such vector, or this is no attack")
            }
        }
    }

    private mutating func read(_ topic: Topic, stem: String, file: String) {
        for value in elements(of: file) {
            do throws(FieldError) {
                let vector = try Vector(topic, value)
                let name = vector.head.name
                guard name.hasPrefix("\(stem): ") else {
                    throw FieldError(line: value.line, what: "the name does not begin with \"\(stem): \"")
                }
                if let other = names.updateValue(file, forKey: name) {
                    throw FieldError(line: value.line, what: "the name is used twice, also in \(other)")
                }
                found.append(Found(vector: vector, file: file, line: value.line))
            } catch {
                report(error, value: value, file: file)
            }
        }
    }

    /// Returns the elements of a JSON file. Errors are noted, and give an empty list.
    private mutating func elements(of file: String) -> [JSONValue] {
        do {
            return try JSONReader.read(try Files.contents(of: "\(fixtures)/\(file)")).elements()
        } catch let fault as JSONError {
            faults.append(VectorError(file: file, line: fault.line, what: fault.what))
        } catch let fault as FieldError {
            faults.append(VectorError(file: file, line: fault.line, what: fault.what))
        } catch let fault as Files.Unreadable {
            faults.append(VectorError(file: file, what: fault.why))
        } catch {
            faults.append(VectorError(file: file, what: "\(error)"))
        }
        return []
    }

    private mutating func names(in folder: String) -> [String] {
        do throws(Files.Unreadable) {
            return try Files.names(in: "\(fixtures)/\(folder)")
        } catch {
            faults.append(VectorError(file: folder, what: error.why))
            return []
        }
    }

    private mutating func report(_ fault: FieldError, value: JSONValue, file: String) {
        faults.append(VectorError(file: file, line: fault.line, vector: value.nameField, what: fault.what))
    }

    private mutating func report(_ found: Found, what: String) {
        let name = found.vector.head.name
        faults.append(VectorError(file: found.file, line: found.line, vector: name, what: what))
    }
}

extension JSONValue {
    /// The text of the member "name", even if the rest of the object is invalid.
    fileprivate var nameField: String? {
        guard case .object(let members) = content,
            case .string(let name)? = members.first(where: { $0.name == "name" })?.value.content
        else { return nil }
        return name
    }
}
