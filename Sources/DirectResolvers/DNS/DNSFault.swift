/// What is wrong with a DNS message, and at which byte.
package struct DNSFault: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        /// The message ends in the middle of this.
        case cutOff(Part)
        /// A label begins with bits that are reserved.
        case reservedLabel
        /// A pointer does not lead backwards, or there are too many of them in one name.
        case badPointer
        /// A name has more than 255 bytes.
        case longName
        /// The data of a record of this type has another length than it must.
        case dataLength(UInt16)
        /// There is more than the header announces.
        case bytesBehind
        /// The message is longer than any may be.
        case tooLong
        /// A second record for what there can be only one of.
        case contradiction
        /// The aliases do not come to an end, or not within reason.
        case endlessAliases
        /// The message is a question, or answers another one than was asked.
        case notTheAnswer
        /// The server could not fit the answer in, and says so.
        case truncated
    }

    package enum Part: String, Hashable, Sendable {
        case header
        case question
        case name
        case record
        case data
    }

    package var kind: Kind
    package var offset: Int

    init(_ kind: Kind, at offset: Int) {
        self.kind = kind
        self.offset = offset
    }

    package var description: String {
        let words =
            switch kind {
            case .cutOff(let part): "ends within a \(part.rawValue)"
            case .reservedLabel: "has a label of an unknown kind"
            case .badPointer: "has a name that points nowhere"
            case .longName: "has a name of more than 255 bytes"
            case .dataLength(let type): "has a record of type \(type) with data of the wrong length"
            case .bytesBehind: "goes on behind its end"
            case .tooLong: "has more than 65535 bytes"
            case .contradiction: "has two records that contradict each other"
            case .endlessAliases: "has aliases that do not end"
            case .notTheAnswer: "is not the answer to the question"
            case .truncated: "is marked as truncated"
            }
        return "the message \(words), at byte \(offset)"
    }
}
