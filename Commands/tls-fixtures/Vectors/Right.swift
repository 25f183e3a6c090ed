/// The right by which a vector judges other clients than this package's own.
///
/// The strongest comes first.
enum Right: String, Choice {
    /// Another result is a known vulnerability.
    case attack
    /// The referenced RFC requires the result: a MUST, or a definition from which one result follows.
    case must
    /// The referenced RFC recommends the result: SHOULD or RECOMMENDED.
    case should
    /// The result is a choice of this package. Other clients may choose otherwise.
    case choice
}
