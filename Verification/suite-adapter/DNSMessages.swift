import DirectHTTP
import DirectResolvers
import Foundation

struct DNSCase: Decodable {
    let id: String
    let wire: String

    enum CodingKeys: String, CodingKey {
        case id
        case wire = "wire_b64"
    }
}

struct DNSReading: Encodable {
    let id: String
    var ok = false
    var addresses: [[Field]] = []
    var err: String?

    /// An address or its time.
    enum Field: Encodable {
        case text(String)
        case number(UInt32)

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .number(let number): try container.encode(number)
            }
        }
    }
}

extension SuiteAdapter {
    /// The contents of a message as the codec reads them. It need not answer a question of ours: many of the
    /// suite's messages are questions.
    static func reading(of message: DNSCase) throws -> DNSReading {
        guard let bytes = Data(base64Encoded: message.wire) else { throw UsageError("not base64") }
        var reading = DNSReading(id: message.id)
        do throws(DNSMessageError) {
            let message = try DNSMessage([UInt8](bytes))
            for type in [DNSType.a, DNSType.aaaa] {
                for address in try DNSAnswer(message, type: type).addresses {
                    let field = DNSReading.Field.text(address.address.description)
                    reading.addresses.append([field, .number(address.timeToLive)])
                }
            }
            reading.ok = true
        } catch {
            reading.err = "\(error)"
        }
        return reading
    }
}
