/// An error in a DNS message, with the offset at which it was found.
package struct DNSMessageError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of errors.
    package enum Kind: Hashable, Sendable {
        /// The message ends in the middle of this part.
        case cutOff(Part)
        /// A label begins with reserved bits.
        case reservedLabel
        /// A compression pointer does not point backwards, or one name has too many of them.
        case badPointer
        /// A name has more than 255 bytes.
        case longName
        /// The data of a record of this type has the wrong length.
        case dataLength(UInt16)
        /// The message is longer than the maximum of 65535 bytes.
        case tooLong
        /// A name has two different records where only one is allowed.
        case contradiction
        /// The alias chain is a loop, or longer than the limit.
        case endlessAliases
        /// The message is a query, or the response to another query.
        case notTheAnswer
        /// The server marked the response as truncated, because not all of it fitted.
        case truncated
    }

    /// The parts of a message.
    package enum Part: String, Hashable, Sendable {
        /// The header of 12 bytes.
        case header
        /// An entry of the question section.
        case question
        /// A domain name.
        case name
        /// The fixed fields of a resource record.
        case record
        /// The data of a resource record.
        case data
    }

    /// The kind of error.
    package var kind: Kind
    /// The offset in the message, in bytes.
    package var offset: Int

    init(_ kind: Kind, at offset: Int) {
        self.kind = kind
        self.offset = offset
    }

    /// The error as the rest of a sentence, with its offset.
    package var description: String {
        let words =
            switch kind {
            case .cutOff(let part): "ends within a \(part.rawValue)"
            case .reservedLabel: "has a label of an unknown kind"
            case .badPointer: "has a name with an invalid compression pointer"
            case .longName: "has a name of more than 255 bytes"
            case .dataLength(let type): "has a record of type \(type) with data of the wrong length"
            case .tooLong: "has more than 65535 bytes"
            case .contradiction: "has two records that contradict each other"
            case .endlessAliases: "has aliases that do not end"
            case .notTheAnswer: "is not the answer to the question"
            case .truncated: "is marked as truncated"
            }
        return "the message \(words), at byte \(offset)"
    }
}
